// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <cmath>
#include <layer/pointwise_error.hpp>
#include <limits>
#include <phyllo/layer/tanh.hpp>

namespace {
long double exact(long double x) { return std::tanh(x); }
long double exact_derivative(long double x) { return 1 / (std::cosh(x) * std::cosh(x)); }
long double one(long double) { return 1; }
}  // namespace

TEST_CASE_TEMPLATE("Tanh keeps its stated error bounds", T, float, double) {
  auto const error =
      phyllo::test::pointwise_error<phyllo::Tanh, T>(-25, 25, exact, exact_derivative, one);
  INFO("value ", error.value, " epsilon, derivative ", error.derivative, " epsilon");
  CHECK(error.value <= 4);
  CHECK(error.derivative <= 4);
  CHECK(error.value > 0);
}

TEST_CASE_TEMPLATE("Tanh at the ends of the numbers", T, float, double) {
  T const infinity = std::numeric_limits<T>::infinity();
  CHECK(phyllo::Tanh::value(infinity) == T(1));
  CHECK(phyllo::Tanh::value(-infinity) == T(-1));
  CHECK(phyllo::Tanh::derivative(T(-1)) == T(0));
  CHECK(phyllo::Tanh::derivative(T(0)) == T(1));
  CHECK(std::isnan(phyllo::Tanh::value(std::numeric_limits<T>::quiet_NaN())));
}
