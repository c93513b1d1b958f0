// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/loss/option_range.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of d^2 / 2 for |d| <= delta, and delta (|d| - delta / 2) beyond it, d =
/// output - target.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// options  delta = 1, above 0, in the outputs' unit
/// units    the square of the outputs' unit
/// errors   none
/// numerics values and gradients in the accumulation type
/// cost     6 flop per element
/// source   Huber, "Robust Estimation of a Location Parameter", Ann. Math. Statist. 35 (1964) 73
struct Huber {
  static constexpr char const* name = "huber";
  static constexpr bool classes = false, mean_of_channels = true;
  double delta = 1;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "delta", .above = 0}.check(who, delta);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const width = T(delta), share = T(1) / T(y.channels());
    y.gradient([&](int c) {
      T const d = y(c) - y.target(c), low = d < -width ? -width : d;
      return share * (low > width ? width : low);
    });
    return share * y.sum([&](int c) {
      T const d = Kokkos::fabs(y(c) - y.target(c)), within = d < width ? d : width;
      return within * (d - T(0.5) * within);
    });
  }
};

/// Mean over the channels of d^2 / (2 beta) for |d| < beta, and |d| - beta / 2 beyond it: Huber
/// divided by its width, so that the slope far away is one.
///
/// shape    as Huber
/// options  beta = 1, above 0, in the outputs' unit
/// units    the outputs' unit
/// errors   none
/// numerics as Huber
/// cost     as Huber
/// source   Girshick, "Fast R-CNN", ICCV 2015, eq. 3
struct SmoothL1 {
  static constexpr char const* name = "smooth_l1";
  static constexpr bool classes = false, mean_of_channels = true;
  double beta = 1;

  void check(std::string const& who, Shape const&) const {
    detail::OptionRange{.option = "beta", .above = 0}.check(who, beta);
  }

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const width = T(beta), share = T(1) / (T(y.channels()) * width);
    y.gradient([&](int c) {
      T const d = y(c) - y.target(c), low = d < -width ? -width : d;
      return share * (low > width ? width : low);
    });
    return share * y.sum([&](int c) {
      T const d = Kokkos::fabs(y(c) - y.target(c)), within = d < width ? d : width;
      return within * (d - T(0.5) * within);
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
