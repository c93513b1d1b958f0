// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/node.hpp>
#include <phyllo/network/graph.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The operations of a network in order, and what they need together: at most N of them.
///
/// numerics what a node reads, `input`, has as many elements as the value that it reads, the output
///          of node[source[0]], and is stored as that; behind an alias the extents may differ
template <int N> struct Nodes {
  Node node[N];
  int size = N;                            // nodes in use; constants of a type use all
  int parameter_count = 0;                 // as the field counts them
  int arena_size = 0;                      // elements, alignment included
  int buffer_size = 0;                     // elements (float): first those that steps write,
  int statistics_size = 0;                 // so many of them
  int batch_state_size = 0;                // elements
  int output[Graph<N>::max_outputs] = {};  // nodes, aliases already followed
  Shape output_shape[Graph<N>::max_outputs] = {};
  int outputs = 0;
  int inputs = 0;
  long flops = 0;

  /// Whether a node reads all values under the extents that they were computed with.
  constexpr bool reads_as_stored(Node const& n) const {
    for (int s = 0; s < n.sources; ++s)
      if (!has_same_extents(n.source_shape[s], node[n.source[s]].output)) return false;
    return true;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
