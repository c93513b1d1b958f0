// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/core/window.hpp>
#include <phyllo/network/graph.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One operation of a network: the contract between the types in front and the plan, the memory and
/// the kernels behind. Plain numbers; independent of the type of the layer.
struct Node {
  Role role = Role::input;
  bool ok = true;          // the layer takes the shape that it is given
  bool oversized = false;  // more elements than 32 bits count
  bool alias = false;      // no work: the value is that of source[0] under another shape
  int sources = 0;
  int source[4] = {-1, -1, -1, -1};  // nodes whose values are read, aliases already followed
  Shape input;                       // of source[0]
  Shape output;
  Window window;    // contraction, pooling
  int weight = -1;  // elements from the start of the parameter arena; -1: none
  int bias = -1;
  int weight_count = 0;
  int bias_count = 0;
  int buffer = -1;  // elements from the start of the buffer arena: mean, then variance
  bool global_statistics = false;
  double momentum = 0;
  double epsilon = 0;
  bool random = false;
  Derivative derivative_of = Derivative::nothing;
  long flops = 0;  // of one sample, forward; a multiply-add counts two
};

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
  int output[Graph<N>::max_outputs] = {};  // nodes, aliases already followed
  Shape output_shape[Graph<N>::max_outputs] = {};
  int outputs = 0;
  int inputs = 0;
  long flops = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
