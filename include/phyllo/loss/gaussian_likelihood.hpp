// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/loss/option_range.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of the target of (ln v + (target - mean)^2 / v) / 2, v = max(variance,
/// epsilon): the negative logarithm of a normal distribution's density. The first half of the
/// output is the mean, the second the variance; torch's GaussianNLLLoss.
///
/// shape    outputs (N, 2 C) or (N, 2 C, spatial...) · targets (N, C) or (N, C, spatial...)
/// options  epsilon = 1e-6: the smallest variance · full = false: adds ln(2 pi) / 2
/// units    the mean has the targets' unit, the variance its square
/// errors   compile: an odd number of channels of the output. A variance below epsilon is none
/// numerics values and gradients in the accumulation type; the gradient at a variance below epsilon
///          is that at epsilon, as torch's
/// cost     1 logarithm and 1 division per channel of the target; the gradient another division
/// source   Nix and Weigend, "Estimating the mean and variance of the target probability
///          distribution", ICNN 1994, eq. 1
struct GaussianLikelihood {
  static constexpr char const* name = "gaussian_likelihood";
  static constexpr bool classes = false;
  static constexpr int outputs_per_target = 2;
  double epsilon = 1e-6;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "epsilon", .above = 0}.check(who, epsilon);
  }
  bool full = false;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    int const half = y.channels() / 2;
    T const share = T(1) / T(half), least = T(epsilon);
    auto const variance = [&](int c) {
      T const v = y(half + c);
      return v < least ? least : v;  // not a number stays that
    };
    y.gradient(0, half, [&](int c) { return share * (y(c) - y.target(c)) / variance(c); });
    y.gradient(half, half, [&](int c) {
      int const k = c - half;
      T const inverse = T(1) / variance(k), d = (y(k) - y.target(k)) * inverse;
      return T(0.5) * share * (inverse - d * d);
    });
    T const sum = y.sum(half, [&](int c) {
      T const v = variance(c), d = y(c) - y.target(c);
      return logarithm(v) + d * d / v;
    });
    return T(0.5) * share * sum + (full ? T(0.91893853320467274178) : T(0));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
