// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <phyllo/core/macros.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo {

// Elementary functions of float that a host's compiler turns into vectors: no branch, no call, no
// table. In double, and in kernels on a GPU, they are the platform's.

namespace detail {

/// exp(x) = 2^n (1 + r + r^2 Q(r)) with |r| <= ln 2 / 2, where q is r + r^2 Q(r) = exp(r) - 1 and
/// scale is 2^n.
///
/// numerics -126.5 < x / ln 2 < 127.5; the polynomial is off by 1.4e-8 relative to exp(r) - 1; a
///          not-a-number stays one in q
/// source   ln 2 in two parts: Cody and Waite, "Software Manual for the Elementary Functions",
///          1980, ch. 6; Q: weighted least squares at Chebyshev nodes, reweighted towards the
///          smallest maximum after Lawson (1961), rounded to float
struct ReducedExponential {
  float q = 0;
  float scale = 1;

  PHYLLO_INLINE explicit ReducedExponential(float x) {
    constexpr float round_to_integer = 12582912.0f;  // 3 * 2^22: the last bit counts ones
    float const shifted = x * 1.44269504f + round_to_integer;
    float const n = shifted - round_to_integer;
    float const r = (x - n * 0x1.62e4p-1f) - n * 0x1.7f7d1cp-20f;
    float const p =
        0x1.fffffep-2f +
        r * (0x1.5554b0p-3f + r * (0x1.555674p-5f + r * (0x1.1227b0p-7f + r * 0x1.6bebfap-10f)));
    q = r + r * r * p;
    // The integer stands in the last bits of the shifted number; the exponent begins at bit 23.
    scale = Kokkos::bit_cast<float>((Kokkos::bit_cast<std::uint32_t>(shifted) << 23) + 0x3f800000u);
  }
};

template <class T> inline constexpr bool is_vectorised = std::is_same_v<T, float>;

PHYLLO_INLINE float vector_exponential(float x) {
  // Beyond these ends the result is zero or infinite.
  float const within = x < -87.3365f ? -87.3365f : (x > 88.37f ? 88.37f : x);
  ReducedExponential const e(within);
  float const y = e.scale + e.scale * e.q;
  return x < -87.3365f ? 0.0f : (x > 88.37f ? y * 0x1p127f : y);
}

PHYLLO_INLINE float vector_hyperbolic_tangent(float x) {
  float const size = x < 0.0f ? -x : x;
  ReducedExponential const e(size > 10.0f ? -20.0f : -2.0f * size);
  float const t = e.scale * e.q + (e.scale - 1.0f);  // exp(-2 |x|) - 1, without cancellation
  float const y = -t / (t + 2.0f);
  return x < 0.0f ? -y : (x == 0.0f ? x : y);
}

PHYLLO_INLINE float vector_logistic(float x) {
  float const e = vector_exponential(x < 0.0f ? x : -x);  // at most 1: it cannot overflow
  return (x < 0.0f ? e : 1.0f) / (1.0f + e);
}

}  // namespace detail

/// exp(x).
///
/// numerics float on a host: relative error at most 2^-23; zero below -87.3365 (where the result
///          falls out of the normal numbers), infinite above 88.37
template <class T> PHYLLO_INLINE T exponential(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_exponential(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::exp(x);))
  } else {
    return Kokkos::exp(x);
  }
}

/// tanh(x).
///
/// numerics float on a host: relative error at most 2^-22, for the smallest arguments too
template <class T> PHYLLO_INLINE T hyperbolic_tangent(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_hyperbolic_tangent(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::tanh(x);))
  } else {
    return Kokkos::tanh(x);
  }
}

/// 1 / (1 + exp(-x)).
///
/// numerics float on a host: relative error at most 2^-22; zero below -87.3365
template <class T> PHYLLO_INLINE T logistic(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_logistic(x);))
    KOKKOS_IF_ON_DEVICE(
        (float const e = Kokkos::exp(-Kokkos::fabs(x)); return (x < 0.0f ? e : 1.0f) / (1.0f + e);))
  } else {
    T const e = Kokkos::exp(-Kokkos::fabs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
}

}  // namespace phyllo
