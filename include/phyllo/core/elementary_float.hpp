// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::detail {

/// x, moved to +-limit where its magnitude is larger; a not-a-number stays one.
///
/// In integers: a comparison of floats may trap, so GCC keeps a branch around every one that is not
/// always reached, and a loop with a branch does not become vectors.
PHYLLO_INLINE float limited(float x, float limit) {
  constexpr std::int32_t infinity = 0x7f800000;
  auto const pattern = Kokkos::bit_cast<std::int32_t>(x);
  auto const most = Kokkos::bit_cast<std::int32_t>(limit);
  std::int32_t const size = pattern & 0x7fffffff;
  std::int32_t const within = size < most ? size : most;
  std::int32_t const kept = size > infinity ? size : within;
  return Kokkos::bit_cast<float>(kept | (pattern & ~0x7fffffff));
}

PHYLLO_INLINE bool is_negative(float x) { return Kokkos::bit_cast<std::int32_t>(x) < 0; }

/// exp(x - below) = 2^n (1 + q) with q = exp(r) - 1 = r + r^2 P(r) and |r| <= ln 2 / 2.
///
/// numerics |x| <= 110 and |below| <= 1; P is off by 1.6e-8 relative to q; a not-a-number stays one
///          in q
/// source   ln 2 in two parts: Cody and Waite, "Software Manual for the Elementary Functions",
///          1980, ch. 6; P: Remez exchange in 40 digits, each coefficient rounded to float before
///          the next ones are fitted again
struct ReducedExponential {
  float q = 0;
  std::uint32_t exponent = 254;  // its last nine bits are n + 254

  PHYLLO_INLINE explicit ReducedExponential(float x, float below = 0) {
    constexpr float round_to_integer = 12583166.0f;  // 3 * 2^22 + 254: the last bit counts ones
    float const shifted = (x - below) * 1.44269504f + round_to_integer;
    float const n = shifted - round_to_integer;
    float const r = ((x - n * 0x1.62e4p-1f) - below) - n * 0x1.7f7d1cp-20f;
    float const p = 0.5f + r * (0x1.5554a0p-3f +
                                r * (0x1.555448p-5f + r * (0x1.12342ep-7f + r * 0x1.6e5076p-10f)));
    q = r + r * r * p;
    exponent = Kokkos::bit_cast<std::uint32_t>(shifted);
  }

  /// 2^n y in two steps, each by a power that is a normal number, so that one rounding is left
  /// where the result overflows or is subnormal.
  PHYLLO_INLINE float scaled(float y) const {
    std::uint32_t const half = exponent >> 1;
    return y * Kokkos::bit_cast<float>(half << 23) *
           Kokkos::bit_cast<float>((exponent - half) << 23);
  }
  /// The same for n from -158 to 0, with less work: by a power that is normal, then 2^-32.
  PHYLLO_INLINE float scaled_down(float y) const {
    return y * Kokkos::bit_cast<float>((exponent - 95) << 23) * 0x1p-32f;
  }
  /// 2^n, for |n| < 127.
  PHYLLO_INLINE float scale() const { return Kokkos::bit_cast<float>((exponent - 127) << 23); }
};

/// sqrt(x): where loops make no vectors of the processor's instruction (PHYLLO_ROOT_OF_SIZE), by
/// Newton's iteration for 1 / sqrt(x).
///
/// source   the start: Lomont, "Fast inverse square root", 2003; the last step: Markstein, IBM
///          Journal of Research and Development 34 (1990) 111
PHYLLO_INLINE float vector_square_root(float x) {
  auto const pattern = Kokkos::bit_cast<std::int32_t>(x);
  std::int32_t const size = pattern & 0x7fffffff;
#ifdef PHYLLO_ROOT_OF_SIZE
  auto const of_size = Kokkos::bit_cast<std::int32_t>(float(PHYLLO_ROOT_OF_SIZE(x)));
#else
  constexpr std::int32_t infinity = 0x7f800000, smallest = 0x10000000;  // 2^-95
  float const larger = size < smallest ? 0x1p64f : 1.0f;
  float const smaller = size < smallest ? 0x1p-32f : 1.0f;
  float const y = Kokkos::bit_cast<float>(size) * larger;
  std::int32_t const start = 0x5f375a86 - (Kokkos::bit_cast<std::int32_t>(y) >> 1);
  auto r = Kokkos::bit_cast<float>(start);
  float const half = 0.5f * y;
  r *= 1.5f - half * r * r;
  r *= 1.5f - half * r * r;
  r *= 1.5f - half * r * r;
  float const root = y * r;
  float const better = root + 0.5f * r * (y - root * root);
  // Infinity and not-a-numbers are their own roots.
  auto const bits = Kokkos::bit_cast<std::int32_t>(better * smaller);
  std::int32_t const of_size = size < infinity ? bits : size;
#endif
  // Numbers below zero have none.
  std::int32_t const none = size > 0 ? ~0x3fffff : ~0x7fffffff;
  return Kokkos::bit_cast<float>(of_size | ((pattern >> 31) & none));
}

PHYLLO_INLINE float vector_exponential(float x) {
  ReducedExponential const e(limited(x, 105.0f));  // beyond, zero or infinity either way
  return e.scaled(1.0f + e.q);
}

PHYLLO_INLINE float vector_decay(float x) {
  // As above, with n + 127 in the last bits: the exponent of 2^n. At -88 that is zero, as is 2^n.
  constexpr float round_to_integer = 12583039.0f;
  float const within = x < -88.0f ? -88.0f : x;
  float const shifted = within * 1.44269504f + round_to_integer;
  float const n = shifted - round_to_integer;
  float const r = (within - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
  float const p = 0.5f + r * (0x1.5554a0p-3f +
                              r * (0x1.555448p-5f + r * (0x1.12342ep-7f + r * 0x1.6e5076p-10f)));
  return Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(shifted) << 23) *
         (1.0f + (r + r * r * p));
}

/// log(2^n (1 + f)) = n ln 2 + f - f^2 / 2 + f^3 P(f) with 1 + f from sqrt(1/2) to sqrt(2).
///
/// source   P, and ln 2 in two parts: Moshier, Cephes Mathematical Library, logf, 1995
PHYLLO_INLINE float vector_logarithm(float x) {
  constexpr std::int32_t infinity = 0x7f800000, smallest_normal = 0x00800000;
  auto const given = Kokkos::bit_cast<std::int32_t>(x);
  std::int32_t const size = given & 0x7fffffff;
  // By masks: a choice would be a branch to GCC, and the loop around it no vectors.
  std::int32_t const is_small = (size - smallest_normal) >> 31;
  auto const larger = Kokkos::bit_cast<float>(0x3f800000 + (is_small & (23 << 23)));
  std::int32_t const below = is_small & 23;
  // Without a sign: of a negative number, whose logarithm is none, the difference wraps around.
  auto const pattern = Kokkos::bit_cast<std::uint32_t>(Kokkos::bit_cast<float>(size) * larger);
  std::int32_t const exponent = std::int32_t(pattern - 0x3f3504f3u) >> 23;  // from sqrt(1/2)
  auto const n = float(exponent - below);
  float const f =
      Kokkos::bit_cast<float>(pattern - std::uint32_t(exponent) * std::uint32_t(smallest_normal)) -
      1.0f;
  float const square = f * f;
  float p = 7.0376836292e-2f;
  p = p * f - 1.1514610310e-1f;
  p = p * f + 1.1676998740e-1f;
  p = p * f - 1.2420140846e-1f;
  p = p * f + 1.4249322787e-1f;
  p = p * f - 1.6668057665e-1f;
  p = p * f + 2.0000714765e-1f;
  p = p * f - 2.4999993993e-1f;
  p = p * f + 3.3333331174e-1f;
  float const low = (p * f * square - n * 2.12194440e-4f) - 0.5f * square;
  float const y = (f + low) + n * 0.693359375f;
  // Infinity and not-a-numbers are their own logarithms, that of zero is -infinity.
  auto const bits = Kokkos::bit_cast<std::int32_t>(y);
  std::int32_t const is_finite = (size - infinity) >> 31, is_zero = (size - 1) >> 31;
  std::int32_t const of_size = (bits & is_finite) | (size & ~is_finite);
  std::int32_t const of_sign = of_size | ((given >> 31) & 0x7fc00000);
  return Kokkos::bit_cast<float>((of_sign & ~is_zero) | (is_zero & ~0x7fffff));
}

PHYLLO_INLINE float vector_hyperbolic_tangent(float x) {
  // From 9.02 on the result rounds to 1.
  float const below = -2.0f * Kokkos::fabs(x);
  ReducedExponential const e(below < -20.0f ? -20.0f : below);
  float const t = e.scale() * e.q + (e.scale() - 1.0f);  // exp(-2 |x|) - 1, without cancellation
  return Kokkos::copysign(t / (t + 2.0f), x);
}

PHYLLO_INLINE float vector_logistic(float x) {
  // A limit from below: of one from above, negated, GCC makes a branch.
  float const below = -Kokkos::fabs(x);
  ReducedExponential const r(below < -105.0f ? -105.0f : below);  // beyond, zero
  float const e = r.scaled_down(1.0f + r.q);                      // at most 1
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

/// erfc(|x|) = exp(-x^2) P(t) / (|x| + k) with t = (|x| - 1) / (|x| + k).
///
/// numerics P is off by 3.1e-8 for |x| <= 10.1, beyond which the result rounds to zero. The square
///          is kept in two parts, since the exponential turns an error of its last bit into x^2
///          epsilon of the result.
/// source   the variable t: Schonfelder, Mathematics of Computation 32 (1978) 1232; P: Remez
///          exchange in 40 digits, then a search among the floats next to its coefficients
PHYLLO_INLINE float vector_error_function_complement(float x) {
  constexpr float k = 2.671875f;  // the least error of nine coefficients
  float const size = limited(Kokkos::fabs(x), 10.25f);
  // The upper 12 bits of the significand: their square is exact.
  auto const upper =
      Kokkos::bit_cast<float>(Kokkos::bit_cast<std::uint32_t>(size) & ~std::uint32_t(0xfff));
  ReducedExponential const e(-upper * upper, (size - upper) * (size + upper));
  float const u = 1.0f / (size + k);
  float const t = (size - 1.0f) * u;
  float const p = 0x1.91edb6p+0f +
                  t * (-0x1.0e8a34p+1f +
                       t * (0x1.d85ef2p+0f +
                            t * (-0x1.e94af4p-1f +
                                 t * (0x1.4937bap-3f +
                                      t * (0x1.ce6864p-4f +
                                           t * (-0x1.8c5586p-5f +
                                                t * (-0x1.450bb4p-6f + t * 0x1.a67f94p-7f)))))));
  float const y = p * u;
  return Kokkos::copysign(e.scaled_down(y + y * e.q), x) + (is_negative(x) ? 2.0f : 0.0f);
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
