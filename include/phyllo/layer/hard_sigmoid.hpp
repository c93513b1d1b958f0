// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/between.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The logistic function by three lines: y = min(max(x / 6 + 1 / 2, 0), 1).
///
/// shape    any -> the same
/// errors   none: every number is allowed
/// numerics relative error at most 2 epsilon; the derivative at -3 and 3 is zero, as torch's
/// cost     2 comparisons an element; the derivative needs the output only
/// source   Courbariaux, Bengio and David, BinaryConnect, NeurIPS 2015, eq. 3; with 1 / 6: Howard
///          et al., Searching for MobileNetV3, ICCV 2019, §5.2
struct HardSigmoid : Pointwise {
  static constexpr char const* name = "hard_sigmoid";
  static constexpr Derivative derivative_of = Derivative::output;

  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return detail::between(T(0), x * T(1.0 / 6) + T(0.5), T(1));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    return chosen((y <= T(0)) | (y >= T(1)), T(0), T(1.0 / 6));
  }
};

/// SiLU by HardSigmoid: y = x min(max(x + 3, 0), 6) / 6.
///
/// shape    any -> the same
/// errors   none: every number is allowed
/// numerics relative error at most 2 epsilon; the derivative at -3 is 0, at 3 it is 1, as torch's
/// cost     2 comparisons and 2 products an element; the derivative needs the input
/// source   Howard et al., Searching for MobileNetV3, ICCV 2019, §5.2
struct HardSwish : Pointwise {
  static constexpr char const* name = "hard_swish";

  template <class T> PHYLLO_FUNCTION static T value(T x) {
    return x * ((detail::between(T(-3), x, T(3)) + T(3)) * T(1.0 / 6));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) {
    T const edge = chosen(x > T(0), T(1), T(0));
    return chosen((x <= T(-3)) | (x >= T(3)), edge, x * T(1.0 / 3) + T(0.5));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
