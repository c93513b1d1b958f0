// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <type_traits>

#include "instruction.hpp"

namespace ptx {

template <class T> T from_bits(Bits bits) {
  if constexpr (std::is_same_v<T, bool>) {
    return bits & 1;
  } else {
    T value;
    std::memcpy(&value, &bits, sizeof value);
    return value;
  }
}

template <class T> Bits to_bits(T value) {
  Bits bits = 0;
  std::memcpy(&bits, &value, sizeof value);
  return bits;
}

/// The types .f16 and .bf16, and .tf32 in 32 bits. Compilers for hosts need not have them.
struct Half {
  std::uint16_t bits;
};
struct Brain {
  std::uint16_t bits;
};
struct Tensor32 {
  std::uint32_t bits;
};

inline double value_of(double x) { return x; }
inline double value_of(Brain x) { return std::bit_cast<float>(std::uint32_t(x.bits) << 16); }
inline double value_of(Tensor32 x) { return std::bit_cast<float>(x.bits & 0xffffe000u); }
inline double value_of(Half x) {
  int const exponent = x.bits >> 10 & 31, fraction = x.bits & 1023;
  double const sign = x.bits >> 15 ? -1 : 1;
  if (exponent == 31)
    return fraction ? std::numeric_limits<double>::quiet_NaN()
                    : sign * std::numeric_limits<double>::infinity();
  return sign * (exponent ? std::ldexp(1024 + fraction, exponent - 25) : std::ldexp(fraction, -24));
}

/// The nearest number, ties to even; a NaN is the one that cvt gives (PTX ISA 9.0, 9.7.9.21).
template <class To> To nearest(double x);
template <> inline double nearest(double x) { return x; }
template <> inline float nearest(double x) { return float(x); }
template <> inline Half nearest(double x) {
  if (x != x) return {0x7fff};
  auto const sign = std::uint16_t(std::signbit(x) << 15);
  x = std::fabs(x);
  if (x >= 65520) return {std::uint16_t(sign | 0x7c00)};
  int const exponent = x < 0x1p-14 ? -14 : std::ilogb(x);
  // Units of the last place, with the leading one of a normal number, which carries by itself.
  auto const units = std::uint16_t(std::nearbyint(std::ldexp(x, 10 - exponent)));
  return {std::uint16_t(sign | (((exponent + 14) << 10) + units))};
}
/// Of a float: what is wider would be rounded twice.
template <> inline Brain nearest(double x) {
  auto const bits = std::bit_cast<std::uint32_t>(float(x));
  return {x != x ? std::uint16_t(0x7fff) : std::uint16_t((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}
/// Ties away from zero, which is the only rounding of cvt.rna.tf32.
template <> inline Tensor32 nearest(double x) {
  auto const bits = std::bit_cast<std::uint32_t>(float(x));
  return {x != x ? 0x7fffffffu : (bits + 0x1000u) & 0xffffe000u};
}

}  // namespace ptx
