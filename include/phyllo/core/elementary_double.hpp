// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::detail {

// As core/elementary_float.hpp, with the bits of a double: 52 of the significand, 11 of the
// exponent. Polynomials: Remez exchange in 45 digits, coefficients rounded to double.

constexpr std::int64_t double_infinity = 0x7ff0000000000000;
constexpr std::int64_t double_size = 0x7fffffffffffffff;  // all bits but the sign
constexpr std::int64_t double_none = 0x7ff8000000000000;  // a quiet not-a-number

/// a < b ? x : y, for |a - b| < 2^63.
///
/// Without a comparison: SSE2 has none of 64 bits, and neither it nor AVX2 shifts a sign of 64 bits
/// to the right, so compilers leave such a loop scalar.
PHYLLO_INLINE std::int64_t where_less(std::int64_t a, std::int64_t b, std::int64_t x,
                                      std::int64_t y) {
  auto const less = std::int64_t(0 - (std::uint64_t(a - b) >> 63));
  return y ^ ((x ^ y) & less);
}

/// x, moved to +-limit where its magnitude is larger; a not-a-number stays one.
PHYLLO_INLINE double limited(double x, double limit) {
  auto const pattern = Kokkos::bit_cast<std::int64_t>(x);
  auto const most = Kokkos::bit_cast<std::int64_t>(limit);
  std::int64_t const size = pattern & double_size;
  std::int64_t const within = where_less(size, most, size, most);
  std::int64_t const kept = where_less(double_infinity, size, size, within);
  return Kokkos::bit_cast<double>(kept | (pattern & ~double_size));
}

/// All bits where the sign of x is set, else none.
PHYLLO_INLINE std::int64_t sign_mask(double x) {
  return std::int64_t(0 - (Kokkos::bit_cast<std::uint64_t>(x) >> 63));
}

/// a where the sign of x is set, else b.
PHYLLO_INLINE double where_negative(double x, double a, double b) {
  auto const of_b = Kokkos::bit_cast<std::int64_t>(b);
  return Kokkos::bit_cast<double>(of_b ^
                                  ((of_b ^ Kokkos::bit_cast<std::int64_t>(a)) & sign_mask(x)));
}

/// c_0 + x (c_1 + x (c_2 + ...)), even and odd powers apart: two chains of half the latency.
template <class... C> PHYLLO_INLINE double polynomial(double x, C... coefficients) {
  constexpr int count = sizeof...(C);
  double const c[] = {coefficients...};
  double const square = x * x;
  double even = c[(count - 1) / 2 * 2], odd = c[count / 2 * 2 - 1];
  PHYLLO_UNROLL
  for (int i = (count - 1) / 2 * 2 - 2; i >= 0; i -= 2) even = c[i] + square * even;
  PHYLLO_UNROLL
  for (int i = count / 2 * 2 - 3; i > 0; i -= 2) odd = c[i] + square * odd;
  return even + x * odd;
}

/// exp(r) - 1 = r + r^2 (1/2 + r P(r)), for |r| <= ln 2 / 2.
///
/// numerics off by 2.5e-17 relative to the result
PHYLLO_INLINE double reduced_exponential(double r) {
  double const p =
      polynomial(r, 0.5, 0x1.555555555553ep-3, 0x1.5555555553b10p-5, 0x1.1111111118d1bp-7,
                 0x1.6c16c179fdb23p-10, 0x1.a01a0171a7946p-13, 0x1.a019b3a06e821p-16,
                 0x1.71de9783225bbp-19, 0x1.289762048f534p-22, 0x1.ae48ec699ed3bp-26);
  return r + r * r * p;
}

constexpr double inverse_ln_2 = 0x1.71547652b82fep+0;
// ln 2 in two parts, the first of 42 bits: its products with an exponent of 11 bits are exact.
constexpr double ln_2 = 0x1.62e42fefa38p-1, ln_2_rest = 0x1.ef35793c7673p-45;

/// exp(x - below) = 2^n (1 + q).
///
/// numerics |x| <= 760 and |below| <= 1; a not-a-number stays one in q
/// source   ln 2 in two parts: Cody and Waite, "Software Manual for the Elementary Functions",
///          1980, ch. 6
struct ReducedExponentialDouble {
  double q = 0;
  std::uint64_t exponent = 2046;  // its last twelve bits are n + 2046

  PHYLLO_INLINE explicit ReducedExponentialDouble(double x, double below = 0) {
    constexpr double round_to_integer = 0x1.8p52 + 2046;  // the last bit counts ones
    double const shifted = (x - below) * inverse_ln_2 + round_to_integer;
    double const n = shifted - round_to_integer;
    q = reduced_exponential(((x - n * ln_2) - below) - n * ln_2_rest);
    exponent = Kokkos::bit_cast<std::uint64_t>(shifted);
  }

  /// 2^n y in two steps, each by a power that is a normal number, so that one rounding is left
  /// where the result overflows or is subnormal.
  PHYLLO_INLINE double scaled(double y) const {
    std::uint64_t const half = exponent >> 1;
    return y * Kokkos::bit_cast<double>(half << 52) *
           Kokkos::bit_cast<double>((exponent - half) << 52);
  }
  /// The same for n from -1086 to 0, with less work: by a power that is normal, then 2^-64.
  PHYLLO_INLINE double scaled_down(double y) const {
    return y * Kokkos::bit_cast<double>((exponent - 959) << 52) * 0x1p-64;
  }
  /// 2^n, for |n| < 1023.
  PHYLLO_INLINE double scale() const { return Kokkos::bit_cast<double>((exponent - 1023) << 52); }
};

/// sqrt(x), as of float.
PHYLLO_INLINE double vector_square_root(double x) {
  auto const pattern = Kokkos::bit_cast<std::int64_t>(x);
  std::int64_t const size = pattern & double_size;
#ifdef PHYLLO_ROOT_OF_SIZE
  auto const of_size = Kokkos::bit_cast<std::int64_t>(double(PHYLLO_ROOT_OF_SIZE(x)));
#else
  constexpr std::int64_t smallest = 0x03f0000000000000;  // 2^-960
  // A quarter at most, so that no square of a root overflows.
  auto const larger =
      Kokkos::bit_cast<double>(where_less(size, smallest, Kokkos::bit_cast<std::int64_t>(0x1p128),
                                          Kokkos::bit_cast<std::int64_t>(0x1p-2)));
  auto const smaller =
      Kokkos::bit_cast<double>(where_less(size, smallest, Kokkos::bit_cast<std::int64_t>(0x1p-64),
                                          Kokkos::bit_cast<std::int64_t>(2.0)));
  double const y = Kokkos::bit_cast<double>(size) * larger;
  std::uint64_t const start = 0x5fe6eb50c7b537a9u - (Kokkos::bit_cast<std::uint64_t>(y) >> 1);
  auto r = Kokkos::bit_cast<double>(start);
  double const half = 0.5 * y;
  r *= 1.5 - half * r * r;
  r *= 1.5 - half * r * r;
  r *= 1.5 - half * r * r;
  r *= 1.5 - half * r * r;
  double const root = y * r;
  double const better = root + 0.5 * r * (y - root * root);
  // Infinity and not-a-numbers are their own roots.
  auto const bits = Kokkos::bit_cast<std::int64_t>(better * smaller);
  std::int64_t const of_size = where_less(size, double_infinity, bits, size);
#endif
  // Numbers below zero have none.
  std::int64_t const sign = pattern & ~double_size;
  std::int64_t const none = sign_mask(x) & where_less(0, size, double_none, 0);
  return Kokkos::bit_cast<double>(of_size | sign | none);
}

PHYLLO_INLINE double vector_exponential(double x) {
  ReducedExponentialDouble const e(limited(x, 750.0));  // beyond, zero or infinity either way
  return e.scaled(1.0 + e.q);
}

PHYLLO_INLINE double vector_decay(double x) {
  // As above, with n + 1023 in the last bits: the exponent of 2^n. At -709 that is zero, as is 2^n.
  constexpr double round_to_integer = 0x1.8p52 + 1023;
  double const within = x < -709.0 ? -709.0 : x;
  double const shifted = within * inverse_ln_2 + round_to_integer;
  double const n = shifted - round_to_integer;
  double const q = reduced_exponential((within - n * ln_2) - n * ln_2_rest);
  return Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(shifted) << 52) * (1.0 + q);
}

/// log(2^n (1 + f)) with 1 + f from sqrt(1/2) to sqrt(2), and log(1 + f) = 2 artanh(s) =
/// f - f^2 / 2 + s (f^2 / 2 + s^2 P(s^2)) with s = f / (2 + f).
///
/// numerics P is off by 1.3e-18 relative to the logarithm
/// source   Tang, ACM Transactions on Mathematical Software 16 (1990) 378, for the variable s
PHYLLO_INLINE double vector_logarithm(double x) {
  constexpr std::int64_t smallest_normal = 0x0010000000000000;
  constexpr std::uint64_t root_of_half = 0x3fe6a09e667f3bcd, bias = std::uint64_t(1024) << 52;
  auto const given = Kokkos::bit_cast<std::int64_t>(x);
  std::int64_t const size = given & double_size;
  auto const larger = Kokkos::bit_cast<double>(where_less(size, smallest_normal,
                                                          Kokkos::bit_cast<std::int64_t>(0x1p52),
                                                          Kokkos::bit_cast<std::int64_t>(1.0)));
  // 2^52 + 1024, and 52 more for what was scaled.
  auto const below = Kokkos::bit_cast<double>(
      where_less(size, smallest_normal, Kokkos::bit_cast<std::int64_t>(0x1p52 + 1024 + 52),
                 Kokkos::bit_cast<std::int64_t>(0x1p52 + 1024)));
  auto const pattern = Kokkos::bit_cast<std::uint64_t>(Kokkos::bit_cast<double>(size) * larger);
  std::uint64_t const exponent = (pattern - root_of_half + bias) >> 52;  // n + 1024
  // An integer below 2^52 as a double: no processor before AVX-512 converts 64 bits.
  double const n =
      Kokkos::bit_cast<double>(exponent | Kokkos::bit_cast<std::uint64_t>(0x1p52)) - below;
  double const f = Kokkos::bit_cast<double>(pattern - (exponent << 52) + bias) - 1.0;
  double const s = f / (2.0 + f);
  double const square = s * s;
  double const p =
      square * polynomial(square, 0x1.5555555555592p-1, 0x1.999999997ff39p-2, 0x1.24924941df203p-2,
                          0x1.c71c5216087eap-3, 0x1.74663ca20b98ap-3, 0x1.39a1ee5718b80p-3,
                          0x1.2f0399cea089ap-3);
  double const half = 0.5 * f * f;
  double const y = n * ln_2 + (f - (half - (s * (half + p) + n * ln_2_rest)));
  // Infinity and not-a-numbers are their own logarithms, that of zero is -infinity.
  std::int64_t const of_size =
      where_less(size, double_infinity, Kokkos::bit_cast<std::int64_t>(y), size);
  return Kokkos::bit_cast<double>(
      where_less(0, size, of_size | (sign_mask(x) & double_none), double_infinity | ~double_size));
}

PHYLLO_INLINE double vector_hyperbolic_tangent(double x) {
  // From 19.1 on the result rounds to 1.
  double const below = -2.0 * Kokkos::fabs(x);
  ReducedExponentialDouble const e(below < -40.0 ? -40.0 : below);
  double const t = e.scale() * e.q + (e.scale() - 1.0);  // exp(-2 |x|) - 1, without cancellation
  return Kokkos::copysign(t / (t + 2.0), x);
}

PHYLLO_INLINE double vector_logistic(double x) {
  // A limit from below: of one from above, negated, GCC makes a branch.
  double const below = -Kokkos::fabs(x);
  ReducedExponentialDouble const r(below < -750.0 ? -750.0 : below);  // beyond, zero
  double const e = r.scaled_down(1.0 + r.q);                          // at most 1
  return (x < 0.0 ? e : 1.0) / (1.0 + e);
}

/// erfc(|x|) = exp(-x^2) P(t) / (|x| + 3) with t = (|x| - 2) / (|x| + 3).
///
/// numerics P is off by 1.1e-16 for |x| <= 27.4; beyond 27.3 the result rounds to zero. With 2 in
///          the numerator the terms of P cancel least. The square is kept in two parts, since the
///          exponential turns an error of its last bit into x^2 epsilon of the result.
/// source   the variable t: Schonfelder, Mathematics of Computation 32 (1978) 1232
PHYLLO_INLINE double vector_error_function_complement(double x) {
  double const size = limited(Kokkos::fabs(x), 27.375);
  // The upper 26 bits of the significand: their square is exact.
  auto const upper =
      Kokkos::bit_cast<double>(Kokkos::bit_cast<std::uint64_t>(size) & ~std::uint64_t(0x7ffffff));
  ReducedExponentialDouble const e(-upper * upper, (size - upper) * (size + upper));
  double const u = 1.0 / (size + 3.0);
  double const t = (size - 2.0) * u;
  // Terms of alternating sign, which cancel if even and odd powers are summed apart.
  double const p_rest = polynomial(
      t, -0x1.1e8fcd4f03d33p-6, 0x1.92a84f2f2790bp-7, 0x1.9e801c33bb90fp-12, -0x1.0f46d51fe7ffbp-9,
      0x1.c6713d9bbde2ep-15, 0x1.9543898a5f2c3p-12, 0x1.6bd808021aa3ep-18, -0x1.4c69126427dd1p-14,
      -0x1.7a4343687ca26p-17, 0x1.0d2c54604b232p-16, 0x1.8ac0f150ce70cp-18, -0x1.858deb75abfe3p-19,
      -0x1.1d9bc8fdbd30dp-19, 0x1.33a5a95d7151fp-21, 0x1.f4bc73b3a8dd4p-22, -0x1.4d35bd03ed710p-23);
  double const p =
      0x1.46e80e2277954p+0 +
      t * (-0x1.64974494439d0p+0 +
           t * (0x1.29998eef5ec47p+0 +
                t * (-0x1.707260bb6c9e8p-1 +
                     t * (0x1.3350146e4a247p-2 + t * (-0x1.cd880a3931d2ep-5 + t * (p_rest))))));
  double const y = p * u;
  return Kokkos::copysign(e.scaled_down(y + y * e.q), x) + where_negative(x, 2.0, 0.0);
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
