// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/program.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Which node each input and output of a network is.
template <class Net> struct Ports {
  using program = typename Net::program;
  static constexpr int most = 8;  // of either
  static constexpr int inputs = program::nodes.inputs;
  static constexpr int outputs = program::nodes.outputs;
  static_assert(inputs <= most && outputs <= most,
                "Model: expected at most eight inputs and eight outputs.");

  /// Node of input number k.
  static constexpr int input_node(int k) {
    for (int i = 0; i < program::size; ++i)
      if (is_given(program::nodes.node[i]) && k-- == 0) return i;
    return -1;
  }
  static constexpr bool takes_integers(int k) {
    return program::nodes.node[input_node(k)].type == ValueType::integer;
  }
  static constexpr int output_node(int k) { return program::nodes.output[k]; }
  static constexpr Shape input_shape(int k) { return program::nodes.node[input_node(k)].output; }
  static constexpr Shape output_shape(int k) { return program::nodes.output_shape[k]; }

  template <class Tag> static constexpr int input_of() {
    int const node = program::edges.find(tag_id<Tag>);
    for (int k = 0; k < inputs; ++k)
      if (input_node(k) == node) return k;
    return -1;
  }
  template <class Tag> static constexpr int output_of() {
    for (int k = 0; k < outputs; ++k)
      if (program::edges.output_tag[k] == tag_id<Tag>) return k;
    return -1;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
