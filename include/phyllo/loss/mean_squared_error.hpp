// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/dot_product.hpp>

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
  static constexpr bool classes = false;

  template <class T, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row(int channels, Outputs const& y, Target const& target,
                               Gradient const& gradient) {
    Difference<T, Outputs, Target> const difference{y, target};
    T sum = 0;
    KOKKOS_IF_ON_HOST((sum = in_vectors<T>(channels, difference, gradient);))
    KOKKOS_IF_ON_DEVICE((sum = one_by_one<T>(channels, difference, gradient);))
    return sum / T(channels);
  }

  /// The same by a team that shares the row (op/row_team.hpp); every thread has the result.
  static constexpr bool by_team = true;
  template <class T, class Team, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row_by_team(Team const& team, int channels, Outputs const& y,
                                       Target const& target, Gradient const& gradient) {
    Difference<T, Outputs, Target> const difference{y, target};
    if (gradient.wanted())
      team.for_each(channels, [&](int c) { gradient(c, 2 * difference(c) / T(channels)); });
    return team.template sum<T>(channels, [&](int c, T& sum) {
      sum += difference(c) * difference(c);
    }) / T(channels);
  }

 private:
  template <class T, class D, class Gradient>
  PHYLLO_FUNCTION static T one_by_one(int channels, D const& difference, Gradient const& gradient) {
    T sum = 0;
    for (int c = 0; c < channels; ++c) {
      T const d = difference(c);
      sum += d * d;
      if (gradient.wanted()) gradient(c, 2 * d / T(channels));
    }
    return sum;
  }
  // The sum by itself, because it is one of many partial sums.
  template <class T, class D, class Gradient>
  PHYLLO_FUNCTION static T in_vectors(int channels, D const& difference, Gradient const& gradient) {
    T const sum = op::dot_product<T>(channels, difference, difference);
    if (gradient.wanted()) {
      T const factor = T(2) / T(channels);
      PHYLLO_SIMD(16)
      for (int c = 0; c < channels; ++c) gradient(c, factor * difference(c));
    }
    return sum;
  }
  template <class T, class Outputs, class Target> struct Difference {
    Outputs const& y;
    Target const& target;
    PHYLLO_FUNCTION T operator()(int c) const { return y(c) - T(target(c)); }
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
