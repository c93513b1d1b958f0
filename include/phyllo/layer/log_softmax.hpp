// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/axis.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Logarithm of the softmax over the channels of each position: y_c = x_c - log(sum over k of
/// exp(x_k)).
///
/// shape    (N, C, S...) -> (N, C, S...)
/// errors   none
/// numerics shifted by the largest channel, so that nothing overflows; in Precision::accumulate
/// cost     2 exponentials per element. Do not put it before CrossEntropy, which expects logits
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §6.2.2.3
struct LogSoftmax {
  static constexpr char const* name = "log_softmax";
  static constexpr Role role = Role::row;
  static constexpr bool logarithm = true;
  static constexpr Axis axis = Axis::channels;
  static constexpr bool accepts(Shape) { return true; }
  static constexpr Shape output(Shape s) { return s; }
};

}  // namespace phyllo::inline PHYLLO_ISA
