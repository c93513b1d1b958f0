// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <cmath>
#include <layer/pointwise_error.hpp>
#include <limits>
#include <phyllo/layer/gelu.hpp>

namespace {
long double const root_two = std::sqrt(2.0L);
long double const two_pi = 2 * std::acos(-1.0L);
long double exact(long double x) { return 0.5L * x * std::erfc(-x / root_two); }
long double exact_derivative(long double x) {
  return 0.5L * std::erfc(-x / root_two) + x * std::exp(-0.5L * x * x) / std::sqrt(two_pi);
}
// The rounding of x / sqrt 2 alone moves the tail by x^2 epsilon.
long double relative_scale(long double x) { return 4 + x * x; }
}  // namespace

TEST_CASE_TEMPLATE("GELU keeps its stated error bounds", T, float, double) {
  auto const error = phyllo::test::pointwise_error<phyllo::GELU, T>(
      -45, 45, exact, exact_derivative, relative_scale);
  INFO("value ", error.value, " (4 + x^2) epsilon, derivative ", error.derivative, " epsilon");
  CHECK(error.value <= 1);
  CHECK(error.derivative <= 4);
  CHECK(error.value > 0);
}

// Tabulated values of the normal distribution function: Phi(1) and Phi(-2).
TEST_CASE("GELU is x times the normal distribution function") {
  CHECK(phyllo::GELU::value(1.0) == doctest::Approx(0.841344746068543).epsilon(1e-14));
  CHECK(phyllo::GELU::value(-2.0) == doctest::Approx(-2 * 0.0227501319481792).epsilon(1e-14));
  CHECK(phyllo::GELU::derivative(0.0) == 0.5);
  CHECK(phyllo::GELU::value(0.0f) == 0.0f);
  CHECK(phyllo::GELU::value(1e30f) == 1e30f);
  CHECK(phyllo::GELU::value(-1e30f) == 0.0f);
  CHECK(phyllo::GELU::derivative(1e30f) == 1.0f);
  CHECK(phyllo::GELU::derivative(-1e30f) == 0.0f);
  CHECK(std::isnan(phyllo::GELU::value(-std::numeric_limits<float>::infinity())));
  static_assert(phyllo::GELU::derivative_of == phyllo::Derivative::input);
}
