// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of |output - target|; torch's L1Loss.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// units    the outputs' unit
/// errors   none
/// numerics values and gradients in the accumulation type; the derivative where both are equal is
///          zero
/// cost     3 flop per element
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 1.91 with q = 1
struct MeanAbsoluteError {
  static constexpr char const* name = "mean_absolute_error";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const share = T(1) / T(y.channels());
    y.gradient([&](int c) {
      // Of what is not a number neither.
      T const d = y(c) - y.target(c), above = d > T(0) ? share : d * T(0);
      return d < T(0) ? -share : above;
    });
    return share * y.sum([&](int c) { return Kokkos::fabs(y(c) - y.target(c)); });
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
