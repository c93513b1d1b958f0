// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <type_traits>

namespace phyllo::test {

/// The number of a 16-bit format nearest to x, computed from the definition of rounding.
template <class Storage> long double nearest(long double x) {
  if (std::isnan(x) || std::isinf(x) || x == 0) return x;
  int const smallest = std::ilogb(Storage::smallest_normal);
  int const exponent = std::ilogb(x) < smallest ? smallest : std::ilogb(x);
  int const unit = exponent + std::ilogb(Storage::epsilon);
  long double const rounded = std::ldexp(std::nearbyint(std::ldexp(x, -unit)), unit);
  long double const infinity = std::numeric_limits<long double>::infinity();
  bool const overflows = std::fabs(rounded) > (long double)(Storage::largest);
  return overflows ? std::copysign(infinity, x) : rounded;
}

template <class Storage> bool is_nearest(Storage got, long double x) {
  long double const expected = nearest<Storage>(x);
  float const number = float(got);
  if (std::isnan(expected)) return std::isnan(number);
  return (long double)(number) == expected && std::signbit(number) == std::signbit(expected);
}

/// Numbers that a rounding from Float can get wrong: ties between neighbours, and those beside.
template <class Storage, class Float> int wrong_ties() {
  int wrong = 0;
  for (std::uint32_t bits = 0; bits < 0x8000u; ++bits) {
    double const low = double(Storage::from_bits(std::uint16_t(bits)));
    double const high = double(Storage::from_bits(std::uint16_t(bits + 1)));
    if (!std::isfinite(low) || !std::isfinite(high)) continue;
    Float const tie = Float(0.5 * (low + high));
    for (Float x : {tie, std::nextafter(tie, Float(0)), std::nextafter(tie, Float(1e30))})
      for (Float y : {x, -x}) wrong += is_nearest(Storage(y), y) ? 0 : 1;
  }
  return wrong;
}

template <class Storage, class Float, class Bits> int wrong_random(int count) {
  static_assert(sizeof(Float) == sizeof(Bits));
  std::mt19937_64 generator(7);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    Float const anything = Kokkos::bit_cast<Float>(Bits(generator()));
    wrong += is_nearest(Storage(anything), anything) ? 0 : 1;
    // Most patterns of a double are far outside of a small format: aim at its range, too.
    int const low = std::ilogb(Storage::smallest_normal) + std::ilogb(Storage::epsilon) - 2;
    int const high = std::ilogb(Storage::largest) + 2;
    int const exponent = low + int(generator() % std::uint64_t(high - low));
    Float const inside = Float(std::ldexp(1.0 + double(generator() >> 12) * 0x1p-52, exponent));
    wrong += is_nearest(Storage(inside), inside) ? 0 : 1;
  }
  return wrong;
}

/// All patterns go to float and double and come back; a signalling NaN comes back quiet.
template <class Storage> int wrong_round_trips() {
  std::uint16_t const infinity = Storage(std::numeric_limits<float>::infinity()).bits();
  std::uint16_t const quiet = std::uint16_t(1 << (-std::ilogb(Storage::epsilon) - 1));
  int wrong = 0;
  for (std::uint32_t i = 0; i < 0x10000u; ++i) {
    Storage const x = Storage::from_bits(std::uint16_t(i));
    bool const is_nan = (i & 0x7fffu) > infinity;
    std::uint32_t const expected = is_nan ? (i | quiet) : i;
    wrong += x.bits() == i ? 0 : 1;
    wrong += Storage(float(x)).bits() == expected ? 0 : 1;
    wrong += Storage(double(x)).bits() == expected ? 0 : 1;
    wrong += std::isnan(float(x)) == is_nan ? 0 : 1;
    wrong += (x == x) == !is_nan ? 0 : 1;
  }
  return wrong;
}

/// Patterns after a way through float and double, computed where Kokkos computes.
template <class Storage> struct RoundTrip {
  Kokkos::View<std::uint16_t*> through_float;
  Kokkos::View<std::uint16_t*> through_double;
  KOKKOS_FUNCTION void operator()(int i) const {
    Storage const x = Storage::from_bits(std::uint16_t(i));
    through_float(i) = Storage(float(x)).bits();
    // A quarter of a unit more rounds back; zeros, infinities and NaNs stay.
    through_double(i) = Storage(double(x) * (1 + 0.25 * double(Storage::epsilon))).bits();
  }
};

template <class Storage> int wrong_in_kernel() {
  int const count = 0x10000;
  RoundTrip<Storage> const trip{Kokkos::View<std::uint16_t*>("through float", count),
                                Kokkos::View<std::uint16_t*>("through double", count)};
  Kokkos::DefaultExecutionSpace const exec;
  Kokkos::parallel_for("round trip", Kokkos::RangePolicy(exec, 0, count), trip);
  exec.fence("round trip");
  auto const through_float =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trip.through_float);
  auto const through_double =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, trip.through_double);
  int wrong = 0;
  for (int i = 0; i < count; ++i) {
    Storage const x = Storage::from_bits(std::uint16_t(i));
    wrong += through_float(i) == Storage(float(x)).bits() ? 0 : 1;
    wrong += through_double(i) == Storage(float(x)).bits() ? 0 : 1;
  }
  return wrong;
}

template <class Storage> void check_storage_type() {
  static_assert(sizeof(Storage) == 2 && alignof(Storage) == 2);
  static_assert(std::is_trivially_copyable_v<Storage>);
  static_assert(std::is_trivially_default_constructible_v<Storage>);
  static_assert(!std::is_convertible_v<float, Storage> && !std::is_convertible_v<Storage, float>);
  CHECK(wrong_round_trips<Storage>() == 0);
  CHECK(wrong_ties<Storage, float>() == 0);
  CHECK(wrong_ties<Storage, double>() == 0);
  CHECK(wrong_random<Storage, float, std::uint32_t>(200000) == 0);
  CHECK(wrong_random<Storage, double, std::uint64_t>(200000) == 0);
  CHECK(wrong_in_kernel<Storage>() == 0);

  CHECK(Storage(0.0f) == Storage(-0.0f));
  CHECK(Storage(0.0f).bits() != Storage(-0.0f).bits());
  CHECK_FALSE(Storage(1.0f) == Storage(1.0f + Storage::epsilon));
  CHECK(float(Storage(1.0f + Storage::epsilon)) == 1.0f + Storage::epsilon);
  CHECK(float(Storage(Storage::largest)) == Storage::largest);
  CHECK(float(Storage(Storage::smallest_normal)) == Storage::smallest_normal);
  CHECK(std::isinf(float(Storage(1e300))));
  CHECK(float(Storage(-1e-300)) == 0.0f);
  CHECK(std::signbit(float(Storage(-1e-300))));

  // A double just above a tie of the small format that a float would round onto the tie.
  double const above_tie = 1.0 + 0.5 * double(Storage::epsilon) + 0x1p-40;
  CHECK(float(Storage(above_tie)) == 1.0f + Storage::epsilon);
  CHECK(float(Storage(float(above_tie))) == 1.0f);
}

}  // namespace phyllo::test
