// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// The headers that hold sentences come first, each at the least depth: compilers print the chain of
// inclusions above every sentence.
#include <phyllo/core/refusal.hpp>

#include <phyllo/block/branch.hpp>
#include <phyllo/block/recompute.hpp>
#include <phyllo/block/recurrent.hpp>
#include <phyllo/block/repeat.hpp>
#include <phyllo/block/skip.hpp>
#include <phyllo/layer/add.hpp>
#include <phyllo/layer/concat.hpp>
#include <phyllo/layer/input.hpp>
#include <phyllo/layer/integer_input.hpp>
#include <phyllo/layer/map.hpp>
#include <phyllo/layer/multiply.hpp>
#include <phyllo/layer/scan.hpp>

#include <phyllo/network/check.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A network as a type: an input, then layers and blocks in the order of evaluation. Derive a
/// struct from it: profilers, files and compile errors show the struct's name.
///
/// shape    input and output are those of the first Input and the first Output
/// errors   compile: one message that names position, layer, expected and given shape
/// cost     flops and parameter_count are constants of the type
/// source   none
template <class... Parts> struct Network {
  using program = Program<Parts...>;
  // A static_assert of sizeof: after a refusal Clang keeps the members below usable in this form
  // only, so that one mistake gives one message.
  static_assert(sizeof(Verdict<program>) > 0);

  static constexpr Shape input = program::nodes.node[0].output;
  static constexpr Shape output = program::nodes.output_shape[0];
  static constexpr int parameter_count = program::nodes.parameter_count;
  /// Floating-point operations of one sample, forward; a multiply-add counts two.
  static constexpr long flops = program::nodes.flops;
  /// Bytes that one sample moves without fusion: every layer's inputs and output once.
  template <class T>
  static constexpr long bytes = [] {
    long elements = 0;
    for (auto const& n : program::nodes.node) {
      if (n.alias || is_given(n)) continue;
      for (int s = 0; s < n.sources; ++s)
        elements += program::nodes.node[n.source[s]].output.size();
      elements += n.output.size();
    }
    return elements * long(sizeof(T));
  }();
};

}  // namespace phyllo::inline PHYLLO_ISA
