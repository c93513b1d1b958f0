// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/rounding.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The upper half of a float: 1 sign, 8 exponent and 7 fraction bits. A storage type, two bytes on
/// every backend; arithmetic is done in float or double.
///
/// numerics rounds to nearest, ties to even, once (also from double); subnormals are kept; overflow
///          gives infinity; a NaN stays a NaN and becomes quiet. Relative error at most epsilon / 2
///          for normal numbers. Equality is that of the values: -0 equals 0, a NaN equals nothing.
/// source   Kalamkar et al., A Study of BFLOAT16 for Deep Learning Training, arXiv:1905.12322
struct bf16 {
  static constexpr float largest = 0x1.fep127f;
  static constexpr float smallest_normal = 0x1p-126f;
  static constexpr float epsilon = 0x1p-7f;  // the distance from 1 to the next number

  bf16() = default;
  PHYLLO_FUNCTION explicit bf16(float x) : bits_(rounded(x)) {}
  PHYLLO_FUNCTION explicit bf16(double x) : bits_(detail::round_to_16_bits<7>(x)) {}

  PHYLLO_FUNCTION static constexpr bf16 from_bits(std::uint16_t bits) { return {FromBits{}, bits}; }
  PHYLLO_FUNCTION constexpr std::uint16_t bits() const { return bits_; }

  PHYLLO_FUNCTION explicit operator float() const {
    return Kokkos::bit_cast<float>(std::uint32_t(bits_) << 16);
  }
  PHYLLO_FUNCTION explicit operator double() const { return double(float(*this)); }

  PHYLLO_FUNCTION friend bool operator==(bf16 a, bf16 b) { return float(a) == float(b); }

 private:
  struct FromBits {};
  PHYLLO_FUNCTION constexpr bf16(FromBits, std::uint16_t bits) : bits_(bits) {}

  // Both formats have the same exponents, so one addition rounds normal and subnormal numbers alike
  // and carries into infinity.
  PHYLLO_FUNCTION static std::uint16_t rounded(float x) {
    auto const pattern = Kokkos::bit_cast<std::uint32_t>(x);
    std::uint32_t const number = (pattern + 0x7fffu + ((pattern >> 16) & 1u)) >> 16;
    std::uint32_t const not_a_number = (pattern >> 16) | 0x40u;
    return std::uint16_t((pattern & 0x7fffffffu) > 0x7f800000u ? not_a_number : number);
  }

  std::uint16_t bits_;
};

}  // namespace phyllo::inline PHYLLO_ISA
