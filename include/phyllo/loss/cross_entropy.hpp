// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Softmax cross-entropy of logits against class indices: log(sum of exp(z)) - z[class].
///
/// shape    outputs (N, C) or (N, C, spatial...) · targets (N) or (N, spatial...), integers 0..C-1
/// errors   run: a class index outside 0..C-1 makes the loss of the sample not a number; a step
///          with one is skipped, and Trainer::loss or evaluate throws an Error
/// numerics shifted by the largest logit; values and gradients in the accumulation type, the
///          exponentials of core/elementary.hpp
/// cost     2 exponentials per logit, 1 where the gradient is stored in the accumulation type
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 4.108
struct CrossEntropy {
  static constexpr char const* name = "cross_entropy";
  static constexpr bool classes = true;
  static constexpr bool side_by_side = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    auto const softmax = z.softmax();
    z.gradient(softmax, [&](int c, auto const& p) { return p - z.is_label(c); });
    return logarithm(softmax.sum) + softmax.largest - z.at_label(z);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
