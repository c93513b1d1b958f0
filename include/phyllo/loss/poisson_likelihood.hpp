// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of exp(y) - target y: the negative log-likelihood of counts whose
/// expected value is exp(y), without the term that outputs do not change; torch's PoissonNLLLoss.
///
/// shape    outputs (logarithms of rates) and targets (counts) (N, C) or (N, C, spatial...)
/// errors   none; exp(y) overflows from y = 88 on in float
/// numerics values and gradients in the accumulation type
/// cost     1 exponential per element, the gradient another one
/// source   McCullagh and Nelder, "Generalized Linear Models", 1989, §6.2
struct PoissonLikelihood {
  static constexpr char const* name = "poisson_likelihood";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const share = T(1) / T(y.channels());
    y.gradient([&](int c) { return share * (exponential(y(c)) - y.target(c)); });
    return share * y.sum([&](int c) { return exponential(y(c)) - y.target(c) * y(c); });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
