// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The logistic function y = 1 / (1 + exp(-x)).
///
/// shape    any -> the same
/// errors   none: every number is allowed, infinities give 0 and 1, a NaN stays a NaN
/// numerics value: relative error at most 4 epsilon while y is a normal number (logistic of
///          core/elementary.hpp); derivative y (1 - y) from the rounded output, absolute error at
///          most 2 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 exponential and 1 division an element; the derivative needs the output only
/// source   Rumelhart, Hinton and Williams, Nature 323 (1986) 533, eq. 2
struct Sigmoid : Pointwise {
  static constexpr char const* name = "sigmoid";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr Activation activation = Activation::logistic;

  template <class T> PHYLLO_INLINE static T value(T x) { return logistic(x); }
  template <class T> PHYLLO_INLINE static T derivative(T y) { return y * (T(1) - y); }
};

}  // namespace phyllo::inline PHYLLO_ISA
