// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of (output - target)^2.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// units    the square of the outputs' unit
/// errors   none
/// numerics values and gradients in the accumulation type
/// cost     3 flop per element
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 1.2 (without its 1/2)
struct MeanSquaredError {
  static constexpr char const* name = "mean_squared_error";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    auto const difference = [&](int c) { return y(c) - y.target(c); };
    T const channels = T(y.channels()), sum = y.sum([&](int c) {
      T const d = difference(c);
      return d * d;
    });
    T const factor = T(2) / channels;
    y.gradient([&](int c) { return factor * difference(c); });
    return sum / channels;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
