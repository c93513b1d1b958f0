// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// The bit layout of a wide IEEE 754 format, the source of a rounding.
template <class Float> struct WideFormat;

template <> struct WideFormat<float> {
  using Bits = std::uint32_t;
  static constexpr int fraction_bits = 23;
  static constexpr int bias = 127;
};

template <> struct WideFormat<double> {
  using Bits = std::uint64_t;
  static constexpr int fraction_bits = 52;
  static constexpr int bias = 1023;
};

/// The pattern of the 16-bit IEEE 754 number with FractionBits bits of fraction nearest to x.
///
/// errors   compile: a Float whose subnormals do not all round to zero
/// numerics one rounding, ties to even; subnormals are kept, overflow gives infinity, a NaN stays a
///          NaN, becomes quiet and keeps its sign and the upper bits of its payload. Integer
///          operations only, no branches: the result does not depend on the rounding or flushing
///          mode of the processor.
/// source   IEEE Std 754-2019, 4.3.1 and 7.4
template <int FractionBits, class Float> PHYLLO_INLINE std::uint16_t round_to_16_bits(Float x) {
  using Wide = WideFormat<Float>;
  using Bits = typename Wide::Bits;
  constexpr int sign_shift = 8 * int(sizeof(Bits)) - 1;
  constexpr Bits hidden_bit = Bits(1) << Wide::fraction_bits;
  constexpr Bits wide_infinity = Bits(2 * Wide::bias + 1) << Wide::fraction_bits;
  constexpr int exponent_bits = 15 - FractionBits;
  constexpr Bits infinity = ((Bits(1) << exponent_bits) - 1) << FractionBits;
  constexpr Bits quiet_bit = Bits(1) << (FractionBits - 1);
  constexpr int dropped = Wide::fraction_bits - FractionBits;
  // The wide format's exponent field of the smallest normal result.
  constexpr int smallest_normal = Wide::bias - ((1 << (exponent_bits - 1)) - 1) + 1;
  static_assert(smallest_normal > FractionBits + 2,
                "the source of a rounding needs more exponents than its result");

  Bits const pattern = Kokkos::bit_cast<Bits>(x);
  Bits const sign = (pattern >> sign_shift) << 15;
  Bits const magnitude = pattern & ~(Bits(1) << sign_shift);
  int const exponent = int(magnitude >> Wide::fraction_bits);
  int const below = exponent < smallest_normal ? smallest_normal - exponent : 0;
  // At this shift every significand is less than half a unit: what lies deeper is zero as well.
  constexpr int deepest = Wide::fraction_bits + 2;
  int const shift = dropped + below < deepest ? dropped + below : deepest;
  // Zero and the source's subnormals get a hidden bit they do not have; it is shifted away.
  Bits const significand = (magnitude & (hidden_bit - 1)) | hidden_bit;
  Bits const half = Bits(1) << (shift - 1);
  Bits const rounded = (significand + (half - 1) + ((significand >> shift) & 1)) >> shift;
  // The hidden bit adds one to the exponent field, and so does a carry out of the fraction.
  int const field = exponent < smallest_normal ? 0 : exponent - smallest_normal;
  Bits const finite = (Bits(field) << FractionBits) + rounded;
  Bits const number = finite < infinity ? finite : infinity;
  Bits const not_a_number = infinity | quiet_bit | ((magnitude >> dropped) & (quiet_bit - 1));
  return std::uint16_t(sign | (magnitude > wide_infinity ? not_a_number : number));
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
