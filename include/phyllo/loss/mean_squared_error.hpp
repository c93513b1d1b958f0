// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo {

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
  static constexpr bool classes = false;

  template <class T, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row(int channels, Outputs const& y, Target const& target,
                               Gradient const& gradient) {
    T sum = 0;
    for (int c = 0; c < channels; ++c) {
      T const difference = y(c) - T(target(c));
      sum += difference * difference;
      if (gradient.wanted()) gradient(c, 2 * difference / T(channels));
    }
    return sum / T(channels);
  }
};

}  // namespace phyllo
