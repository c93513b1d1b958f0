// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mish: y = x tanh(ln(1 + exp(x))), with one exponential: tanh(ln(1 + e)) = n / (n + 2), n = e (e
/// + 2).
///
/// shape    any -> the same
/// errors   none: every finite number is allowed; minus infinity gives NaN, as infinity times zero
/// numerics value: relative error at most 8 epsilon while y is a normal number; derivative:
///          absolute error at most 6 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 exponential and 1 division an element; the derivative needs the input
/// source   Misra, "Mish: A Self Regularized Non-Monotonic Activation Function", BMVC 2020
struct Mish : Pointwise {
  static constexpr char const* name = "mish";

  template <class T> PHYLLO_INLINE static T value(T x) {
    T const e = exponential(below_limit(x)), n = e * (e + T(2));
    return x * (n / (n + T(2)));
  }
  template <class T> PHYLLO_INLINE static T derivative(T x) {
    T const within = below_limit(x), e = exponential(within), n = e * (e + T(2));
    T const share = T(1) / (n + T(2));
    return n * share + within * (T(4) * e * (e + T(1)) * share) * share;
  }

 private:
  // From 20 on tanh is one in double as well.
  template <class T> PHYLLO_INLINE static T below_limit(T x) { return chosen(x > T(20), T(20), x); }
};

}  // namespace phyllo::inline PHYLLO_ISA
