// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/loss/option_range.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of q (target - output) where that is positive, and (1 - q) (output -
/// target) elsewhere: outputs become the quantile q of the targets.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// options  quantile = 0.5, from 0 to 1
/// units    the outputs' unit
/// errors   none
/// numerics values and gradients in the accumulation type; the derivative where both are equal is 1
///          - q
/// cost     4 flop per element
/// source   Koenker and Bassett, "Regression Quantiles", Econometrica 46 (1978) 33
struct Quantile {
  static constexpr char const* name = "quantile";
  static constexpr bool classes = false, mean_of_channels = true;
  double quantile = 0.5;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "quantile", .least = 0, .most = 1}.check(who, quantile);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const q = T(quantile), share = T(1) / T(y.channels());
    y.gradient([&](int c) {
      // Of what is not a number neither.
      T const above = y.target(c) - y(c), low = above <= T(0) ? T(1) - q : above;
      return share * (above > T(0) ? -q : low);
    });
    return share * y.sum([&](int c) {
      T const above = y.target(c) - y(c), high = q * above, low = (q - T(1)) * above;
      return high > low ? high : low;
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
