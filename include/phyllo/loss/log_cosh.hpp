// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of ln(cosh(output - target)): quadratic near zero, linear far away,
/// smooth everywhere.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// units    the outputs are dimensionless
/// errors   none
/// numerics values and gradients in the accumulation type: with t = tanh(|d| / 2) the value is ln(1
///          + t^2) - ln(1 - t^2) for |d| < 1, which keeps the digits of small differences
/// cost     1 tanh, 1 exponential and 3 logarithms per element; the gradient 1 tanh
/// source   Green, "Bayesian Reconstructions From Emission Tomography Data Using a Modified EM
///          Algorithm", IEEE Trans. Med. Imaging 9 (1990) 84
struct LogCosh {
  static constexpr char const* name = "log_cosh";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const share = T(1) / T(y.channels());
    y.gradient([&](int c) { return share * hyperbolic_tangent(y(c) - y.target(c)); });
    return share * y.sum([&](int c) {
      constexpr T ln_2 = T(0.69314718055994530942L), quarter = T(0.25);
      T const d = Kokkos::fabs(y(c) - y.target(c)), t = hyperbolic_tangent(T(0.5) * d);
      T const square = t * t < quarter ? t * t : quarter;
      T const near = logarithm_of_one_plus(square) - logarithm_of_one_plus(-square);
      T const far = d + logarithm_of_one_plus(decay(T(-2) * d)) - ln_2;
      return chosen(t * t < quarter, near, far);
    });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
