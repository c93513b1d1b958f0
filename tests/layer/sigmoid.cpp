// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <cmath>
#include <layer/pointwise_error.hpp>
#include <limits>
#include <phyllo/layer/sigmoid.hpp>

namespace {
long double exact(long double x) { return 1 / (1 + std::exp(-x)); }
long double exact_derivative(long double x) { return exact(x) * exact(-x); }
long double one(long double) { return 1; }
}  // namespace

TEST_CASE_TEMPLATE("Sigmoid keeps its stated error bounds", T, float, double) {
  // Beyond the range of exp on both sides, also of float.
  auto const error =
      phyllo::test::pointwise_error<phyllo::Sigmoid, T>(-120, 120, exact, exact_derivative, one);
  INFO("value ", error.value, " epsilon, derivative ", error.derivative, " epsilon");
  CHECK(error.value <= 4);
  CHECK(error.derivative <= 2);
  CHECK(error.value > 0);
}

TEST_CASE_TEMPLATE("Sigmoid at the ends of the numbers", T, float, double) {
  T const infinity = std::numeric_limits<T>::infinity();
  CHECK(phyllo::Sigmoid::value(infinity) == T(1));
  CHECK(phyllo::Sigmoid::value(-infinity) == T(0));
  CHECK(phyllo::Sigmoid::value(T(0)) == T(0.5));
  CHECK(phyllo::Sigmoid::derivative(T(0.5)) == T(0.25));
  CHECK(std::isnan(phyllo::Sigmoid::value(std::numeric_limits<T>::quiet_NaN())));
}
