// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Softmax over the channels of each position: y_c = exp(x_c) / sum over k of exp(x_k).
///
/// shape    (N, C, S...) -> (N, C, S...)
/// errors   none
/// numerics shifted by the largest channel, so that nothing overflows; in Precision::accumulate
/// cost     2 exponentials per element. Do not put it before CrossEntropy, which expects logits
/// source   Bridle, "Probabilistic Interpretation of Feedforward Classification Network Outputs",
///          1990
struct Softmax {
  static constexpr char const* name = "softmax";
  static constexpr Role role = Role::row;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }
};

}  // namespace phyllo::inline PHYLLO_ISA
