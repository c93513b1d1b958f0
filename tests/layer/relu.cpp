// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <phyllo/layer/relu.hpp>
#include <string>

TEST_CASE_TEMPLATE("ReLU is exact, with derivative zero at zero", T, float, double) {
  using phyllo::ReLU;
  CHECK(ReLU::value(T(2.5)) == T(2.5));
  CHECK(ReLU::value(T(-2.5)) == T(0));
  CHECK(ReLU::value(T(0)) == T(0));
  CHECK_FALSE(std::signbit(ReLU::value(T(-0.0))));
  CHECK(ReLU::value(std::numeric_limits<T>::infinity()) == std::numeric_limits<T>::infinity());
  CHECK(ReLU::value(-std::numeric_limits<T>::infinity()) == T(0));
  CHECK(std::isnan(ReLU::value(std::numeric_limits<T>::quiet_NaN())));
  CHECK(ReLU::derivative(T(0)) == T(0));
  CHECK(ReLU::derivative(ReLU::value(T(-3))) == T(0));
  CHECK(ReLU::derivative(std::numeric_limits<T>::denorm_min()) == T(1));
  CHECK(ReLU::derivative(T(3)) == T(1));
}

TEST_CASE("ReLU is a pointwise layer that keeps its output") {
  static_assert(phyllo::ReLU::role == phyllo::Role::pointwise);
  static_assert(phyllo::ReLU::derivative_of == phyllo::Derivative::output);
  static_assert(phyllo::ReLU::accepts(phyllo::Shape(3, 4, 5)));
  static_assert(phyllo::ReLU::output(phyllo::Shape(3, 4, 5)) == phyllo::Shape(3, 4, 5));
  CHECK(phyllo::ReLU::name == std::string("relu"));
}
