// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The rectifier y = max(x, 0).
///
/// shape    any -> the same
/// errors   none: every number is allowed, a NaN stays a NaN
/// numerics exact; the derivative at zero is zero
/// cost     1 comparison an element; the derivative needs the output only
/// source   Nair and Hinton, Rectified Linear Units Improve RBMs, ICML 2010
struct ReLU : Pointwise {
  static constexpr char const* name = "relu";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr Activation activation = Activation::rectifier;
  static constexpr bool needs_constants = false;

  template <class T> PHYLLO_FUNCTION static T value(T x) { return chosen(x <= T(0), T(0), x); }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    return chosen(y <= T(0), T(0), T(1));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
