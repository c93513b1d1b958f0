// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/between.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// x between two limits: y = min(max(x, Low), High).
///
/// shape    any -> the same
/// options  Low = -1, High = 1
/// errors   compile: limits that are not in order
/// numerics exact; the derivative at both limits is zero, as torch's; a NaN stays a NaN
/// cost     2 comparisons an element; the derivative needs the output only
/// source   Collobert, Large Scale Machine Learning, 2004, §8.2
template <double Low = -1.0, double High = 1.0> struct HardTanh : Pointwise {
  static constexpr char const* name = "hard_tanh";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr bool accepts(Shape) { return Low < High; }

  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return detail::between(T(Low), x, T(High));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    return chosen((y <= T(Low)) | (y >= T(High)), T(0), T(1));
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "HardTanh<low, high>: the lower limit must be less than the upper one.");
  };
};

/// The rectifier with an upper limit: y = min(max(x, 0), 6).
///
/// shape    any -> the same
/// errors   none: every number is allowed
/// numerics as HardTanh
/// cost     as HardTanh
/// source   Krizhevsky, Convolutional Deep Belief Networks on CIFAR-10, 2010
struct ReLU6 : HardTanh<0.0, 6.0> {
  static constexpr char const* name = "relu6";
};

}  // namespace phyllo::inline PHYLLO_ISA
