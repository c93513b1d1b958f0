// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/loss/option_range.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// 1 - (2 sum of p t + smoothing) / (sum of p + sum of t + smoothing) over the channels, p =
/// 1 / (1 + exp(-z)): how little a predicted region overlaps that of the targets. Behind a Flatten
/// the channels are all pixels of a mask.
///
/// shape    outputs (logits) and targets (0 to 1) (N, C); of (N, C, spatial...) each position is a
///          row by itself
/// options  smoothing = 1, above 0
/// errors   none
/// numerics values and gradients in the accumulation type
/// cost     1 logistic function per element, the gradient another
/// source   Milletari, Navab and Ahmadi, "V-Net", 3DV 2016, §3, without squares, as in Sudre et
///          al., "Generalised Dice overlap", DLMIA 2017, §2.1
struct Dice {
  static constexpr char const* name = "dice";
  static constexpr bool classes = false;
  double smoothing = 1;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "smoothing", .least = 0}.check(who, smoothing);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    T const both = z.sum([&](int c) { return logistic(z(c)) * z.target(c); });
    T const all = z.sum([&](int c) { return logistic(z(c)) + z.target(c); });
    T const inverse = T(1) / (all + T(smoothing)), ratio = (T(2) * both + T(smoothing)) * inverse;
    z.gradient([&](int c) {
      T const p = logistic(z(c));
      return inverse * (ratio - T(2) * z.target(c)) * p * (T(1) - p);
    });
    return T(1) - ratio;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
