// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/core/elementary.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

using namespace phyllo;

namespace {

constexpr float infinity = std::numeric_limits<float>::infinity();
constexpr double smallest_normal = double(std::numeric_limits<float>::min());

/// Largest errors of a function of float against one of double.
struct Errors {
  double relative = 0;  // in epsilons of float, where the exact result is a normal number
  double units = 0;     // the same in distances of neighbouring floats
  double below = 0;     // in the smallest subnormal number, below the normal numbers
  int wrong = 0;        // infinities, not-a-numbers and signs

  void add(float got, double exact) {
    auto const rounded = float(exact);
    if (std::isnan(rounded) || std::isinf(rounded)) {
      wrong += std::isnan(rounded) ? !std::isnan(got) : got != rounded;
      return;
    }
    wrong += !std::isfinite(got) || std::signbit(got) != std::signbit(rounded);
    double const off = std::fabs(double(got) - exact);
    if (std::fabs(exact) < smallest_normal) {
      below = std::max(below, off * 0x1p149);
    } else {
      relative = std::max(relative, off / std::fabs(exact) * 0x1p23);
      units = std::max(units, off / std::ldexp(1.0, std::ilogb(exact) - 23));
    }
  }
};

/// Over every 1009th of all floats, and over all floats beside each of `special` and its opposite.
template <class Function, class Exact>
Errors errors(Function const& f, Exact const& exact, std::initializer_list<float> special) {
  Errors worst;
  for (std::uint64_t bits = 0; bits < (std::uint64_t(1) << 32); bits += 1009) {
    auto const x = std::bit_cast<float>(std::uint32_t(bits));
    worst.add(f(x), exact(double(x)));
  }
  for (float const centre : special)
    for (int sign = 0; sign < 2; ++sign)
      for (int i = -1000; i <= 1000; ++i) {
        auto const bits = std::int64_t(std::bit_cast<std::uint32_t>(centre)) + i;
        if (bits < 0) continue;
        auto const size = std::bit_cast<float>(std::uint32_t(bits));
        float const x = sign == 0 ? size : -size;
        worst.add(f(x), exact(double(x)));
      }
  return worst;
}

/// Whether f rises from `low` to `high`, but for `slack` epsilons where it is rounded.
template <class Function> bool rises(Function const& f, float low, float high, float slack) {
  float before = f(low);
  for (int i = 1; i <= 20000; ++i) {
    float const y = f(low + (high - low) * float(i) / 20000.0f);
    if (!(y >= before - slack * 0x1p-23f * std::fabs(before))) return false;
    before = y;
  }
  return true;
}

}  // namespace

TEST_CASE("elementary: float square root") {
  auto const f = [](float x) { return square_root(x); };
  // Where the exponent becomes even, where small numbers are scaled, the smallest and the largest.
  Errors const worst = errors(f, [](double x) { return std::sqrt(x); },
                              {0.0f, 1e-38f, 0x1p-95f, 0x1p-94f, 1.0f, 2.0f, 4.0f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units");
  CHECK(worst.relative <= 1);
  CHECK(worst.wrong == 0);
  CHECK(square_root(4.0f) == 2.0f);
  CHECK(square_root(0.0f) == 0.0f);
  CHECK(std::signbit(square_root(-0.0f)));
  CHECK(square_root(infinity) == infinity);
  CHECK(std::isnan(square_root(-0x1p-149f)));
  CHECK(std::isnan(square_root(-infinity)));
}

TEST_CASE("elementary: float logarithm") {
  auto const f = [](float x) { return logarithm(x); };
  // Where the exponent changes, one, and the largest and smallest arguments.
  Errors const worst = errors(f, [](double x) { return std::log(x); },
                              {0.0f, 1e-38f, 0.70710678f, 1.0f, 1.41421356f, 2.0f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units");
  CHECK(worst.relative <= 1);
  CHECK(worst.wrong == 0);
  CHECK(logarithm(1.0f) == 0.0f);
  CHECK(logarithm(0.0f) == -infinity);
  CHECK(logarithm(-0.0f) == -infinity);
  CHECK(logarithm(infinity) == infinity);
  CHECK(std::isnan(logarithm(-0x1p-149f)));
  CHECK(rises(f, 0.5f, 3.0f, 2));
}

TEST_CASE("elementary: float exponential of what is not above zero") {
  auto const f = [](float x) { return decay(x > 0.0f ? -x : x); };
  Errors const worst = errors(f, [](double x) { return std::exp(-std::fabs(x)); },
                              {0.0f, 0.34657359f, 1.0f, 86.643398f, 87.336544f, 88.0f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 1);
  CHECK(worst.below <= 0x1p23);
  CHECK(worst.wrong == 0);
  CHECK(decay(0.0f) == 1.0f);
  CHECK(decay(-0.0f) == 1.0f);
  CHECK(decay(-infinity) == 0.0f);
  CHECK(rises(f, -110.0f, 0.0f, 0));
}

TEST_CASE("elementary: float exponential") {
  auto const f = [](float x) { return exponential(x); };
  // 1; where n changes; the largest and the smallest results; the smallest number.
  Errors const worst = errors(f, [](double x) { return std::exp(x); },
                              {0.0f, 0.34657359f, 1.03972077f, 1.0f, 87.336544f, 87.683128f,
                               88.376265f, 88.722839f, 103.27893f, 103.97208f, 105.0f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 1);
  CHECK(worst.units <= 1.1);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(exponential(0.0f) == 1.0f);
  CHECK(exponential(-0.0f) == 1.0f);
  CHECK(exponential(88.72283f) < infinity);
  CHECK(exponential(88.72284f) == infinity);
  CHECK(exponential(infinity) == infinity);
  CHECK(exponential(-103.0f) > 0.0f);
  CHECK(exponential(-104.0f) == 0.0f);
  CHECK(exponential(-infinity) == 0.0f);
  CHECK(rises(f, -110.0f, 88.0f, 0));
}

TEST_CASE("elementary: float hyperbolic tangent") {
  auto const f = [](float x) { return hyperbolic_tangent(x); };
  Errors const worst = errors(
      f, [](double x) { return std::tanh(x); },
      {0.0f, 1e-38f, 1e-20f, 1e-4f, 0.17328680f, 0.51986039f, 1.0f, 9.0109134f, 10.0f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 2);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(hyperbolic_tangent(infinity) == 1.0f);
  CHECK(hyperbolic_tangent(-infinity) == -1.0f);
  CHECK(hyperbolic_tangent(0.0f) == 0.0f);
  CHECK_FALSE(std::signbit(hyperbolic_tangent(0.0f)));
  CHECK(std::signbit(hyperbolic_tangent(-0.0f)));
  CHECK(hyperbolic_tangent(1e-30f) == 1e-30f);
  CHECK(hyperbolic_tangent(1e-45f) == 1e-45f);
  CHECK(hyperbolic_tangent(9.1f) == 1.0f);
  CHECK(rises(f, -12.0f, 12.0f, 2));
  CHECK(rises(f, 9.1f, 1000.0f, 0));
}

TEST_CASE("elementary: float logistic function") {
  auto const f = [](float x) { return logistic(x); };
  Errors const worst =
      errors(f, [](double x) { return 1 / (1 + std::exp(-x)); },
             {0.0f, 0.34657359f, 1.0f, 16.6f, 87.336544f, 88.722839f, 103.97208f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 2);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(logistic(infinity) == 1.0f);
  CHECK(logistic(-infinity) == 0.0f);
  CHECK(logistic(0.0f) == 0.5f);
  CHECK(logistic(-0.0f) == 0.5f);
  CHECK(rises(f, -110.0f, 30.0f, 2));
  CHECK(rises(f, 17.5f, 1000.0f, 0));
}

TEST_CASE("elementary: float complement of the error function") {
  auto const f = [](float x) { return error_function_complement(x); };
  Errors const worst = errors(f, [](double x) { return std::erfc(x); },
                              {0.0f, 0.004f, 0.58870501f, 1.0f, 2.671875f, 3.8325066f, 9.194548f,
                               9.345f, 10.05f, 10.25f, infinity});
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 3);
  CHECK(worst.below <= 3);
  CHECK(worst.wrong == 0);
  CHECK(error_function_complement(0.0f) == doctest::Approx(1).epsilon(4e-7));
  CHECK(error_function_complement(infinity) == 0.0f);
  CHECK(error_function_complement(-infinity) == 2.0f);
  CHECK(error_function_complement(10.2f) == 0.0f);
  CHECK(error_function_complement(-4.0f) == 2.0f);
  CHECK(rises([](float x) { return error_function_complement(-x); }, -11.0f, 5.0f, 4));
  CHECK(rises([](float x) { return error_function_complement(-x); }, 4.0f, 1000.0f, 0));
}

TEST_CASE("elementary: a not-a-number stays one, whatever its other bits") {
  for (std::uint32_t const bits : {0x7fc00000u, 0xffc00000u, 0x7f800001u, 0x7fffffffu, 0xffffffffu,
                                   0x7fc000ffu, 0xffd23456u}) {
    auto const x = std::bit_cast<float>(bits);
    CHECK(std::isnan(exponential(x)));
    CHECK(std::isnan(hyperbolic_tangent(x)));
    CHECK(std::isnan(logistic(x)));
    CHECK(std::isnan(error_function_complement(x)));
  }
}

TEST_CASE("elementary: double is the platform's") {
  CHECK(exponential(1.5) == std::exp(1.5));
  CHECK(hyperbolic_tangent(1.5) == std::tanh(1.5));
  CHECK(logistic(-1.5) == doctest::Approx(1 / (1 + std::exp(1.5))).epsilon(1e-15));
  CHECK(error_function_complement(1.5) == std::erfc(1.5));
}
