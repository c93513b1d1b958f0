// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

namespace phyllo::test {

/// The step for a variable of size one: the cube root of double's epsilon, where the truncation
/// h^2 f'''/6 and the rounding epsilon f/h are about equal, both near 4e-11 for f of size one.
inline constexpr double difference_step = 6e-6;

inline double norm(std::vector<double> const& v) {
  double sum = 0;
  for (double const a : v) sum += a * a;
  return std::sqrt(sum);
}

/// Norm of gradient - differences, relative to the gradient's norm.
///
/// numerics not a number where the lengths differ or the gradient is zero, so that a comparison of
///          nothing passes no bound
inline double relative_error(std::vector<double> const& gradient,
                             std::vector<double> const& differences) {
  double const size = norm(gradient);
  if (gradient.size() != differences.size() || size == 0)
    return std::numeric_limits<double>::quiet_NaN();
  std::vector<double> off(gradient.size());
  for (std::size_t i = 0; i < off.size(); ++i) off[i] = gradient[i] - differences[i];
  return norm(off) / size;
}

/// (f(x + h) - f(x - h)) / 2h for each of the variables x[0..count), h = step max(1, |x|).
/// `value()` evaluates f from the variables, which are restored.
///
/// cost     2 count evaluations
template <class Function>
std::vector<double> central_differences(double* x, std::size_t count, Function const& value,
                                        double step = difference_step) {
  std::vector<double> differences(count);
  for (std::size_t i = 0; i < count; ++i) {
    double const at = x[i], h = step * std::max(1.0, std::abs(at));
    double const above = at + h, below = at - h;
    x[i] = above;
    double const value_above = value();
    x[i] = below;
    double const value_below = value();
    x[i] = at;
    // The distance of the rounded points, not 2h.
    differences[i] = (value_above - value_below) / (above - below);
  }
  return differences;
}

/// Exponent p of the error h^p of central differences between the steps 1e-3 and 1e-4: 2 for a
/// right gradient of a function with a third derivative, 0 for a wrong one.
template <class Function>
double difference_order(double* x, std::size_t count, Function const& value,
                        std::vector<double> const& gradient) {
  double const coarse = relative_error(gradient, central_differences(x, count, value, 1e-3));
  double const fine = relative_error(gradient, central_differences(x, count, value, 1e-4));
  return std::log10(coarse / fine);
}

}  // namespace phyllo::test
