// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/rounding.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits. A storage type, two bytes on every
/// backend; arithmetic is done in float or double.
///
/// numerics rounds to nearest, ties to even, once (also from double); subnormals are kept; overflow
///          gives infinity; a NaN stays a NaN and becomes quiet. Relative error at most epsilon / 2
///          for normal numbers. Equality is that of the values: -0 equals 0, a NaN equals nothing.
/// source   IEEE Std 754-2019, 3.6
struct fp16 {
  static constexpr float largest = 65504.0f;
  static constexpr float smallest_normal = 0x1p-14f;
  static constexpr float epsilon = 0x1p-10f;  // the distance from 1 to the next number

  fp16() = default;
  PHYLLO_FUNCTION explicit fp16(float x) : bits_(detail::round_to_16_bits<10>(x)) {}
  PHYLLO_FUNCTION explicit fp16(double x) : bits_(detail::round_to_16_bits<10>(x)) {}

  PHYLLO_FUNCTION static constexpr fp16 from_bits(std::uint16_t bits) { return {FromBits{}, bits}; }
  PHYLLO_FUNCTION constexpr std::uint16_t bits() const { return bits_; }

  PHYLLO_FUNCTION explicit operator float() const {
    std::uint32_t const sign = std::uint32_t(bits_ & 0x8000u) << 16;
    std::uint32_t const magnitude = bits_ & 0x7fffu;
    std::uint32_t const rebiased = (magnitude << 13) + (std::uint32_t(127 - 15) << 23);
    // A subnormal is a count of 2^-24, exact and normal as a float.
    auto const counted = Kokkos::bit_cast<std::uint32_t>(float(std::int32_t(magnitude)) * 0x1p-24f);
    // Masks, because a compiler that hides the product behind a branch does not vectorise.
    std::uint32_t const subnormal = 0u - std::uint32_t(magnitude < 0x0400u);
    std::uint32_t const not_finite = 0u - std::uint32_t(magnitude >= 0x7c00u);
    return Kokkos::bit_cast<float>(sign | (counted & subnormal) | (rebiased & ~subnormal) |
                                   (not_finite & 0x7f800000u));
  }
  PHYLLO_FUNCTION explicit operator double() const { return double(float(*this)); }

  PHYLLO_FUNCTION friend bool operator==(fp16 a, fp16 b) { return float(a) == float(b); }

 private:
  struct FromBits {};
  PHYLLO_FUNCTION constexpr fp16(FromBits, std::uint16_t bits) : bits_(bits) {}

  std::uint16_t bits_;
};

}  // namespace phyllo::inline PHYLLO_ISA
