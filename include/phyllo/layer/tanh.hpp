// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The hyperbolic tangent y = tanh(x).
///
/// shape    any -> the same
/// errors   none: every number is allowed, infinities give -1 and 1, a NaN stays a NaN
/// numerics value: core/elementary.hpp, relative error at most 4 epsilon; derivative 1 - y^2 from
///          the rounded output, absolute error at most 4 epsilon (epsilon of T: 2^-23 for float)
/// cost     1 tanh an element; the derivative needs the output only
/// source   LeCun et al., Efficient BackProp, Neural Networks: Tricks of the Trade (1998) 9
struct Tanh : Pointwise {
  static constexpr char const* name = "tanh";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr Activation activation = Activation::hyperbolic_tangent;

  template <class T> PHYLLO_INLINE static T value(T x) { return hyperbolic_tangent(x); }
  template <class T> PHYLLO_INLINE static T derivative(T y) {
    return (T(1) - y) * (T(1) + y);  // does not cancel where y is near 1
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
