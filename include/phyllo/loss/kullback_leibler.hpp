// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sum over the channels of p (ln p - y): the divergence of the distribution exp(y) from the target
/// p; outputs are logarithms of probabilities. Torch's KLDivLoss with reduction batchmean, of
/// images divided by their positions.
///
/// shape    outputs (log-probabilities) and targets (probabilities) (N, C) or (N, C, spatial...)
/// errors   none; a probability of zero adds nothing, one below zero gives NaN
/// numerics values and gradients in the accumulation type
/// cost     1 logarithm per element
/// source   Kullback and Leibler, "On Information and Sufficiency", Ann. Math. Statist. 22
///          (1951) 79
struct KullbackLeibler {
  static constexpr char const* name = "kullback_leibler";
  static constexpr bool classes = false;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    y.gradient([&](int c) { return -y.target(c); });
    return y.sum([&](int c) {
      // By a sum: a choice between p and 1 would be a branch to GCC, around the logarithm.
      T const p = y.target(c), is_zero = p == T(0) ? T(1) : T(0);
      return p * (logarithm(p + is_zero) - y(c));
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
