// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of ln(1 + exp(z)) - target z: the cross-entropy of logits against
/// probabilities or labels 0 and 1, each channel by itself; torch's BCEWithLogitsLoss.
///
/// shape    outputs (logits) and targets (0 to 1) (N, C) or (N, C, spatial...)
/// errors   none
/// numerics values and gradients in the accumulation type; nothing overflows
/// cost     1 exponential and 1 logarithm per element; the gradient 1 logistic function
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 4.90
struct BinaryCrossEntropy {
  static constexpr char const* name = "binary_cross_entropy";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    T const share = T(1) / T(z.channels());
    z.gradient([&](int c) { return share * (logistic(z(c)) - z.target(c)); });
    return share * z.sum([&](int c) { return soft_plus(z(c)) - z.target(c) * z(c); });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
