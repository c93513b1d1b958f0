// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/core/elementary.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstdint>
#include <limits>

using namespace phyllo;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();

// Largest relative error against double over the floats from `low` to `high`, every 499th of all
// bit patterns, where the result is a normal number.
template <class Function, class Exact>
double worst(Function const& f, Exact const& exact, float low, float high) {
  double most = 0;
  for (std::uint64_t bits = 0; bits < (std::uint64_t(1) << 32); bits += 499) {
    auto const x = Kokkos::bit_cast<float>(std::uint32_t(bits));
    if (!(x >= low && x <= high)) continue;
    double const expected = exact(double(x));
    if (std::abs(expected) < double(std::numeric_limits<float>::min())) continue;
    double const error = std::abs(double(f(x)) - expected) / std::abs(expected);
    if (!(error <= most)) most = error;  // a not-a-number stays
  }
  return most;
}

}  // namespace

TEST_CASE("elementary: float functions keep their bounds") {
  CHECK(worst([](float x) { return exponential(x); }, [](double x) { return std::exp(x); },
              -87.336f, 88.36f) <= 0x1p-23);
  CHECK(worst([](float x) { return hyperbolic_tangent(x); }, [](double x) { return std::tanh(x); },
              -infinity, infinity) <= 0x1p-22);
  CHECK(worst([](float x) { return logistic(x); }, [](double x) { return 1 / (1 + std::exp(-x)); },
              -87.336f, infinity) <= 0x1p-22);
}

TEST_CASE("elementary: the ends") {
  CHECK(exponential(89.0f) == infinity);
  CHECK(exponential(infinity) == infinity);
  CHECK(exponential(-88.0f) == 0.0f);
  CHECK(exponential(-infinity) == 0.0f);
  CHECK(exponential(0.0f) == 1.0f);
  CHECK(hyperbolic_tangent(infinity) == 1.0f);
  CHECK(hyperbolic_tangent(-infinity) == -1.0f);
  CHECK(std::signbit(hyperbolic_tangent(-0.0f)));
  CHECK(hyperbolic_tangent(1e-30f) == 1e-30f);
  CHECK(logistic(infinity) == 1.0f);
  CHECK(logistic(-infinity) == 0.0f);
  CHECK(logistic(0.0f) == 0.5f);
  float const not_a_number = std::numeric_limits<float>::quiet_NaN();
  CHECK(std::isnan(exponential(not_a_number)));
  CHECK(std::isnan(hyperbolic_tangent(not_a_number)));
  CHECK(std::isnan(logistic(not_a_number)));
}

TEST_CASE("elementary: double is the platform's") {
  CHECK(exponential(1.5) == std::exp(1.5));
  CHECK(hyperbolic_tangent(1.5) == std::tanh(1.5));
  CHECK(logistic(-1.5) == doctest::Approx(1 / (1 + std::exp(1.5))).epsilon(1e-15));
}
