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

/// What is computed in T against: a type of more digits, and the bits of T.
template <class T> struct Format;
template <> struct Format<float> {
  using Exact = double;
  using Bits = std::uint32_t;
  static constexpr int digits = 23, smallest = -149;
  static constexpr Bits step = 1009;
};
template <> struct Format<double> {
  using Exact = long double;
  using Bits = std::uint64_t;
  static constexpr int digits = 52, smallest = -1074;
  static constexpr Bits step = 0x0000156789abcdef;  // 780,000 numbers
};

/// Largest errors of a function of T against one of more digits.
template <class T> struct Errors {
  using Exact = typename Format<T>::Exact;
  Exact relative = 0;  // in epsilons of T, where the exact result is a normal number
  Exact units = 0;     // the same in distances of neighbouring numbers
  Exact below = 0;     // in the smallest subnormal number, below the normal numbers
  int wrong = 0;       // infinities, not-a-numbers and signs

  void add(T got, Exact exact) {
    auto const rounded = T(exact);
    if (std::isnan(rounded) || std::isinf(rounded)) {
      wrong += std::isnan(rounded) ? !std::isnan(got) : got != rounded;
      return;
    }
    wrong += !std::isfinite(got) || std::signbit(got) != std::signbit(rounded);
    Exact const off = std::fabs(Exact(got) - exact);
    if (std::fabs(exact) < Exact(std::numeric_limits<T>::min())) {
      below = std::max(below, std::ldexp(off, -Format<T>::smallest));
    } else {
      relative = std::max(relative, std::ldexp(off / std::fabs(exact), Format<T>::digits));
      units = std::max(units, off / std::ldexp(Exact(1), std::ilogb(exact) - Format<T>::digits));
    }
  }
};

/// Over every `step`th of all numbers, and over all numbers beside each of `special` and its
/// opposite.
template <class T, class Function, class Exact>
Errors<T> errors(Function const& f, Exact const& exact, std::initializer_list<T> special) {
  using Bits = typename Format<T>::Bits;
  using More = typename Format<T>::Exact;
  Errors<T> worst;
  constexpr Bits step = Format<T>::step, last = std::numeric_limits<Bits>::max() - step;
  for (Bits bits = 0; bits < last; bits += step) {
    auto const x = std::bit_cast<T>(bits);
    worst.add(f(x), exact(More(x)));
  }
  for (T const centre : special)
    for (int sign = 0; sign < 2; ++sign)
      for (int i = -1000; i <= 1000; ++i) {
        auto const bits = std::int64_t(std::bit_cast<Bits>(centre)) + i;
        if (bits < 0) continue;
        auto const size = std::bit_cast<T>(Bits(bits));
        T const x = sign == 0 ? size : -size;
        worst.add(f(x), exact(More(x)));
      }
  return worst;
}

/// The same, and over `count` numbers from low to high at equal distances.
template <class T, class Function, class Exact>
Errors<T> errors(Function const& f, Exact const& exact, std::initializer_list<T> special, T low,
                 T high, int count) {
  Errors<T> worst = errors<T>(f, exact, special);
  for (int i = 0; i <= count; ++i) {
    T const x = low + (high - low) * (T(i) / T(count));
    worst.add(f(x), exact(typename Format<T>::Exact(x)));
  }
  return worst;
}

/// Whether f rises from `low` to `high`, but for `slack` epsilons where it is rounded.
template <class T, class Function> bool rises(Function const& f, T low, T high, int slack) {
  T before = f(low);
  for (int i = 1; i <= 20000; ++i) {
    T const y = f(low + (high - low) * T(i) / T(20000));
    if (!(y >= before - T(slack) * std::numeric_limits<T>::epsilon() * std::fabs(before)))
      return false;
    before = y;
  }
  return true;
}

}  // namespace

TEST_CASE("elementary: float square root") {
  auto const f = [](float x) { return square_root(x); };
  // Where the exponent becomes even, where small numbers are scaled, the smallest and the largest.
  Errors<float> const worst =
      errors<float>(f, [](double x) { return std::sqrt(x); },
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
  Errors<float> const worst =
      errors<float>(f, [](double x) { return std::log(x); },
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
  Errors<float> const worst =
      errors<float>(f, [](double x) { return std::exp(-std::fabs(x)); },
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
  Errors<float> const worst =
      errors<float>(f, [](double x) { return std::exp(x); },
                    {0.0f, 0.34657359f, 1.03972077f, 1.0f, 87.336544f, 87.683128f, 88.376265f,
                     88.722839f, 103.27893f, 103.97208f, 105.0f, infinity});
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
  Errors<float> const worst = errors<float>(
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
  Errors<float> const worst =
      errors<float>(f, [](double x) { return 1 / (1 + std::exp(-x)); },
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
  Errors<float> const worst = errors<float>(f, [](double x) { return std::erfc(x); },
                                            {0.0f, 0.004f, 0.58870501f, 1.0f, 2.671875f, 3.8325066f,
                                             9.194548f, 9.345f, 10.05f, 10.25f, infinity});
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

namespace {
constexpr double infinite = std::numeric_limits<double>::infinity();
}  // namespace

TEST_CASE("elementary: double square root") {
  auto const f = [](double x) { return square_root(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::sqrt(x); },
      {0.0, 0x1p-1022, 0x1p-960, 0x1p-959, 1.0, 2.0, 4.0, infinite}, 0.5, 5.0, 50000);
  INFO(worst.relative, " epsilon, ", worst.units, " units");
  CHECK(worst.relative <= 1);
  CHECK(worst.wrong == 0);
  CHECK(square_root(4.0) == 2.0);
  CHECK(square_root(0.0) == 0.0);
  CHECK(std::signbit(square_root(-0.0)));
  CHECK(square_root(infinite) == infinite);
  CHECK(std::isnan(square_root(-0x1p-1074)));
  CHECK(std::isnan(square_root(-infinite)));
}

TEST_CASE("elementary: double logarithm") {
  auto const f = [](double x) { return logarithm(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::log(x); },
      {0.0, 0x1p-1022, 0.70710678118654752, 1.0, 1.4142135623730951, 2.0, infinite}, 0.5, 3.0,
      200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units");
  CHECK(worst.relative <= 1);
  CHECK(worst.wrong == 0);
  CHECK(logarithm(1.0) == 0.0);
  CHECK(logarithm(0.0) == -infinite);
  CHECK(logarithm(-0.0) == -infinite);
  CHECK(logarithm(infinite) == infinite);
  CHECK(std::isnan(logarithm(-0x1p-1074)));
  CHECK(std::isnan(logarithm(-infinite)));
  CHECK(rises(f, 0.5, 3.0, 2));
}

TEST_CASE("elementary: double exponential of what is not above zero") {
  auto const f = [](double x) { return decay(x > 0.0 ? -x : x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::exp(-std::fabs(x)); },
      {0.0, 0.34657359027997264, 1.0, 707.7, 708.39641853226408, 709.0, infinite}, -720.0, 0.0,
      200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 1);
  CHECK(worst.below <= 0x1p52);
  CHECK(worst.wrong == 0);
  CHECK(decay(0.0) == 1.0);
  CHECK(decay(-0.0) == 1.0);
  CHECK(decay(-infinite) == 0.0);
  CHECK(decay(10.0) == doctest::Approx(std::exp(10.0)).epsilon(1e-15));
  CHECK(rises(f, -720.0, 0.0, 0));
}

TEST_CASE("elementary: double exponential") {
  auto const f = [](double x) { return exponential(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::exp(x); },
      {0.0, 0.34657359027997264, 1.0397207708399179, 1.0, 708.39641853226408, 708.7, 709.4,
       709.78271289338397, 744.44007192138122, 745.13321910194122, 750.0, infinite},
      -750.0, 710.0, 200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 1);
  CHECK(worst.units <= 1.1);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(exponential(0.0) == 1.0);
  CHECK(exponential(-0.0) == 1.0);
  CHECK(exponential(709.78271289338397) < infinite);
  CHECK(exponential(709.78271289338409) == infinite);
  CHECK(exponential(infinite) == infinite);
  CHECK(exponential(-745.0) > 0.0);
  CHECK(exponential(-746.0) == 0.0);
  CHECK(exponential(-infinite) == 0.0);
  CHECK(rises(f, -750.0, 709.0, 0));
}

TEST_CASE("elementary: double hyperbolic tangent") {
  auto const f = [](double x) { return hyperbolic_tangent(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::tanh(x); },
      {0.0, 0x1p-1022, 1e-300, 1e-8, 0.17328679513998632, 0.51986038541995896, 1.0, 19.06, 20.0,
       infinite},
      0.0, 20.0, 200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 2);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(hyperbolic_tangent(infinite) == 1.0);
  CHECK(hyperbolic_tangent(-infinite) == -1.0);
  CHECK(hyperbolic_tangent(0.0) == 0.0);
  CHECK_FALSE(std::signbit(hyperbolic_tangent(0.0)));
  CHECK(std::signbit(hyperbolic_tangent(-0.0)));
  CHECK(hyperbolic_tangent(1e-300) == 1e-300);
  CHECK(hyperbolic_tangent(0x1p-1074) == 0x1p-1074);
  CHECK(hyperbolic_tangent(19.1) == 1.0);
  CHECK(rises(f, -22.0, 22.0, 2));
  CHECK(rises(f, 19.1, 1000.0, 0));
}

TEST_CASE("elementary: double logistic function") {
  auto const f = [](double x) { return logistic(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return 1 / (1 + std::exp(-x)); },
      {0.0, 0.34657359027997264, 1.0, 36.7, 708.39641853226408, 709.78271289338397,
       745.13321910194122, infinite},
      -750.0, 40.0, 200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 2);
  CHECK(worst.below <= 1);
  CHECK(worst.wrong == 0);
  CHECK(logistic(infinite) == 1.0);
  CHECK(logistic(-infinite) == 0.0);
  CHECK(logistic(0.0) == 0.5);
  CHECK(logistic(-0.0) == 0.5);
  CHECK(rises(f, -750.0, 50.0, 2));
  CHECK(rises(f, 38.0, 1000.0, 0));
}

TEST_CASE("elementary: double complement of the error function") {
  auto const f = [](double x) { return error_function_complement(x); };
  auto const worst = errors<double>(
      f, [](long double x) { return std::erfc(x); },
      {0.0, 0.004, 0.58870501125773735, 1.0, 2.0, 3.0, 5.86358475, 26.543258, 26.6, 27.22, 27.375,
       infinite},
      -6.5, 27.5, 200000);
  INFO(worst.relative, " epsilon, ", worst.units, " units, below ", worst.below);
  CHECK(worst.relative <= 4);
  CHECK(worst.below <= 3);
  CHECK(worst.wrong == 0);
  CHECK(error_function_complement(0.0) == doctest::Approx(1).epsilon(6e-16));
  CHECK(error_function_complement(infinite) == 0.0);
  CHECK(error_function_complement(-infinite) == 2.0);
  CHECK(error_function_complement(27.3) == 0.0);
  CHECK(error_function_complement(-6.0) == 2.0);
  CHECK(rises([](double x) { return error_function_complement(-x); }, -28.0, 7.0, 4));
  CHECK(rises([](double x) { return error_function_complement(-x); }, 6.0, 1000.0, 0));
}

TEST_CASE("elementary: a double that is not a number stays one, whatever its other bits") {
  for (std::uint64_t const bits :
       {0x7ff8000000000000u, 0xfff8000000000000u, 0x7ff0000000000001u, 0x7fffffffffffffffu,
        0xffffffffffffffffu, 0x7ff80000000000ffu, 0xfffa234500000000u}) {
    auto const x = std::bit_cast<double>(std::uint64_t(bits));
    CHECK(std::isnan(square_root(x)));
    CHECK(std::isnan(logarithm(x)));
    CHECK(std::isnan(decay(x)));
    CHECK(std::isnan(exponential(x)));
    CHECK(std::isnan(hyperbolic_tangent(x)));
    CHECK(std::isnan(logistic(x)));
    CHECK(std::isnan(error_function_complement(x)));
  }
}
