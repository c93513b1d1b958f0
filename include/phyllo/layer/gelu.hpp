// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/layer/pointwise.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The Gaussian error linear unit y = x Phi(x) = x erfc(-x / sqrt 2) / 2: Phi is the distribution
/// function of the normal distribution itself, not the approximation by a tanh.
///
/// shape    any -> the same
/// errors   none: every finite number is allowed; minus infinity, as infinity times zero, gives NaN
/// numerics value: relative error at most (5 + x^2) epsilon while y is a normal number, so the tail
///          towards minus infinity keeps its digits (erfc of core/elementary.hpp); derivative:
///          absolute error at most 4 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 erfc an element; the derivative 1 erfc and 1 exponential, from the input
/// source   Hendrycks and Gimpel, Gaussian Error Linear Units, arXiv:1606.08415 (2016), §2
struct GELU : Pointwise {
  static constexpr char const* name = "gelu";
  static constexpr Derivative derivative_of = Derivative::input;
  static constexpr Activation activation = Activation::gelu;

  template <class T> PHYLLO_INLINE static T value(T x) {
    return T(0.5) * x * error_function_complement(-x * sqrt_half<T>);
  }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    return T(0.5) * error_function_complement(-x * sqrt_half<T>) +
           x * (density_at_zero<T> * decay(T(-0.5) * x * x));
  }

 private:
  template <class T> static constexpr T sqrt_half = T(0.70710678118654752440L);
  template <class T>
  static constexpr T density_at_zero = T(0.39894228040143267794L);  // 1 / sqrt(2 pi)
};

/// GELU by a tanh: y = x (1 + tanh(u)) / 2 = x / (1 + exp(-2 u)), u = sqrt(2 / pi) (x + 0.044715
/// x^3); torch's GELU(approximate="tanh").
///
/// shape    any -> the same
/// errors   none: every finite number is allowed; minus infinity gives NaN, as infinity times zero
/// numerics value: relative error at most (8 + x^2 + 4 |u|) epsilon while y is a normal number;
///          derivative: absolute error at most 8 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 exponential and 1 division an element; the derivative needs the input
/// source   Hendrycks and Gimpel, arXiv:1606.08415 (2016), §2
struct TanhGELU : Pointwise {
  static constexpr char const* name = "tanh_gelu";

  template <class T> PHYLLO_INLINE static T value(T x) { return x * logistic(T(2) * argument(x)); }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    // Beyond 20 the slope is 0 or 1, and squares of x may overflow.
    T const within = detail::limited(x, T(20));
    T const slope = factor<T> * (T(1) + T(3 * cubic) * within * within);
    T const e = decay(T(-2) * Kokkos::fabs(argument(within)));
    T const larger = T(1) / (T(1) + e), smaller = e * larger;
    T const gate = T(0.5) + Kokkos::copysign(T(0.5) - smaller, within);
    return gate + within * (smaller * larger) * (T(2) * slope);
  }

 private:
  static constexpr double cubic = 0.044715;
  template <class T> static constexpr T factor = T(0.79788456080286535588L);  // sqrt(2 / pi)
  template <class T> PHYLLO_INLINE static T argument(T x) {
    return factor<T> * (x + T(cubic) * (x * x) * x);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
