// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/node.hpp>
#include <phyllo/network/graph.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The operations of a network in order, and what they need together: at most N of them.
///
/// numerics what a node reads, `input`, has the channels and positions of the value that it reads,
///          the output of node[source[0]]; the ranks may differ
template <int N> struct Nodes {
  Node node[N];
  int size = N;                            // nodes in use; constants of a type use all
  int parameter_count = 0;                 // as the field counts them
  int arena_size = 0;                      // elements, alignment included
  int buffer_size = 0;                     // elements (float)
  int batch_state_size = 0;                // elements
  int output[Graph<N>::max_outputs] = {};  // nodes, aliases already followed
  Shape output_shape[Graph<N>::max_outputs] = {};
  int outputs = 0;
  int inputs = 0;
  long flops = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
