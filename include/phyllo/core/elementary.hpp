// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary_double.hpp>
#include <phyllo/core/elementary_float.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_BitManipulation.hpp>
#include <Kokkos_MathematicalFunctions.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

// Elementary functions of float and double that a host's compiler turns into vectors: no branch, no
// call, no table. In kernels on a GPU they are the platform's.
//
// Errors are those of a host, in epsilons of the type: 2^-23 for float, 2^-52 for double.

namespace detail {

template <class T>
inline constexpr bool is_vectorised =
    (std::is_same_v<T, float> || std::is_same_v<T, double>) && !PHYLLO_REORDERS_SUMS;

template <class T> PHYLLO_INLINE T masked_choice(bool condition, T then, T otherwise) {
  using Pattern = std::conditional_t<sizeof(T) == 4, std::int32_t, std::int64_t>;
  Pattern const mask = -Pattern(condition);
  return Kokkos::bit_cast<T>((Kokkos::bit_cast<Pattern>(then) & mask) |
                             (Kokkos::bit_cast<Pattern>(otherwise) & ~mask));
}

}  // namespace detail

/// sqrt(x).
///
/// numerics relative error at most epsilon, for subnormal arguments too
template <class T> PHYLLO_INLINE T square_root(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_square_root(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::sqrt(x);))
  } else {
    return Kokkos::sqrt(x);
  }
}

/// exp(x).
///
/// numerics relative error at most epsilon while the result is a normal
///          number, subnormal results within one of their units
template <class T> PHYLLO_INLINE T exponential(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_exponential(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::exp(x);))
  } else {
    return Kokkos::exp(x);
  }
}

/// exp(x) for x <= 0, in half of the operations.
///
/// numerics relative error at most epsilon while the result is a normal number,
///          below that zero or subnormal; above 0 right as far as exp(x) < 2^127, for double 2^1023
template <class T> PHYLLO_INLINE T decay(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_decay(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::exp(x);))
  } else {
    return Kokkos::exp(x);
  }
}

/// log(x).
///
/// numerics relative error at most epsilon, for subnormal arguments too
template <class T> PHYLLO_INLINE T logarithm(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_logarithm(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::log(x);))
  } else {
    return Kokkos::log(x);
  }
}

/// tanh(x).
///
/// numerics relative error at most 2 epsilon, for the smallest arguments too
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
/// numerics relative error at most 2 epsilon while the result is a normal number
template <class T> PHYLLO_INLINE T logistic(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_logistic(x);))
    KOKKOS_IF_ON_DEVICE(
        (T const e = Kokkos::exp(-Kokkos::fabs(x)); return (x < T(0) ? e : T(1)) / (T(1) + e);))
  } else {
    T const e = Kokkos::exp(-Kokkos::fabs(x));
    return (x < T(0) ? e : T(1)) / (T(1) + e);
  }
}

/// erfc(x) = 1 - erf(x).
///
/// numerics relative error at most 3 epsilon, for double 4, while the result is a normal number
template <class T> PHYLLO_INLINE T error_function_complement(T x) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::vector_error_function_complement(x);))
    KOKKOS_IF_ON_DEVICE((return Kokkos::erfc(x);))
  } else {
    return Kokkos::erfc(x);
  }
}

/// `then` where the condition holds, else `otherwise`. By masks on processors: GCC puts arithmetic
/// on a chosen number behind a branch, and without AVX-512 a loop with a branch does not become
/// vectors. Join conditions by `|` and `&`, which are no branches either.
template <class Condition, class T>
PHYLLO_INLINE T chosen(Condition condition, T then, T otherwise) {
  if constexpr (detail::is_vectorised<T>) {
    KOKKOS_IF_ON_HOST((return detail::masked_choice(condition, then, otherwise);))
    KOKKOS_IF_ON_DEVICE((return condition ? then : otherwise;))
  } else {
    return condition ? then : otherwise;
  }
}

/// exp(x) - 1 for x <= 0, as 2 t / (1 - t) with t = tanh(x / 2).
///
/// numerics relative error at most 6 epsilon, for the smallest arguments too; 0 for x > 0, so that
///          nothing is divided by zero, which a program may trap
template <class T> PHYLLO_INLINE T decay_minus_one(T x) {
  T const t = hyperbolic_tangent(T(0.5) * chosen(x > T(0), T(0), x));
  return T(2) * t / (T(1) - t);
}

/// ln(1 + x) for 0 <= x <= 1.
///
/// numerics relative error at most 3 epsilon, for the smallest arguments too: the rounding of 1 + x
///          is added again to first order
template <class T> PHYLLO_INLINE T logarithm_of_one_plus(T x) {
  if constexpr (PHYLLO_REORDERS_SUMS) {
    return Kokkos::log1p(x);
  } else {
    T const u = T(1) + x;
    return logarithm(u) + (x - (u - T(1))) / u;
  }
}

/// ln(1 + exp(x)).
///
/// numerics relative error at most 5 epsilon while the result is a normal number; nothing overflows
template <class T> PHYLLO_INLINE T soft_plus(T x) {
  T const above = x > T(0) ? x : T(0);
  return above + logarithm_of_one_plus(decay(-Kokkos::fabs(x)));
}

}  // namespace phyllo::inline PHYLLO_ISA
