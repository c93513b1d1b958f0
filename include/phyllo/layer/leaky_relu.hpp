// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The rectifier with a slope below zero: y = x for x > 0, NegativeSlope x elsewhere.
///
/// shape    any -> the same
/// options  NegativeSlope = 0.01, at least 0
/// errors   compile: a negative slope
/// numerics one rounding; the derivative at zero is NegativeSlope, as torch's
/// cost     1 comparison and 1 product an element; the derivative needs the output only
/// source   Maas, Hannun and Ng, Rectifier Nonlinearities Improve Neural Network Acoustic Models,
///          ICML 2013
template <double NegativeSlope = 0.01> struct LeakyReLU : Pointwise {
  static constexpr char const* name = "leaky_relu";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr bool accepts(Shape) { return NegativeSlope >= 0; }

  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return chosen(x <= T(0), T(NegativeSlope) * x, x);
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    return chosen(y <= T(0), T(NegativeSlope), T(1));
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "LeakyReLU: the slope below zero must be at least 0, because the derivative is "
                  "computed from the output. Write a Pointwise layer for another slope.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
