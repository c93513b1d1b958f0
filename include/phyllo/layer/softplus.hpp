// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The smooth rectifier y = ln(1 + exp(Beta x)) / Beta.
///
/// shape    any -> the same
/// options  Beta = 1, above 0
/// errors   compile: Beta that is not above 0
/// numerics value: relative error at most 6 epsilon while y is a normal number; derivative: that of
///          the logistic function (epsilon of T: 2^-23 for float). The exponential never overflows,
///          so there is no threshold: torch returns x beyond Beta x = 20, which is 2e-9 less
/// cost     1 exponential, 1 logarithm and 1 division an element; the derivative needs the input
/// source   Dugas et al., Incorporating Second-Order Functional Knowledge, NeurIPS 2000
template <double Beta = 1.0> struct Softplus : Pointwise {
  static constexpr char const* name = "softplus";
  static constexpr bool accepts(Shape) { return Beta > 0; }

  template <class T> PHYLLO_INLINE static T value(T x) {
    return T(1 / Beta) * soft_plus(T(Beta) * x);
  }
  template <class T> PHYLLO_INLINE static T derivative(T x) { return logistic(T(Beta) * x); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "Softplus: Beta must be above 0.");
  };
};

/// The logarithm of the logistic function, y = -ln(1 + exp(-x)).
///
/// shape    any -> the same
/// errors   none: every number is allowed
/// numerics as Softplus
/// cost     as Softplus
/// source   Dugas et al., NeurIPS 2000
struct LogSigmoid : Pointwise {
  static constexpr char const* name = "log_sigmoid";

  template <class T> PHYLLO_INLINE static T value(T x) { return -soft_plus(-x); }
  template <class T> PHYLLO_INLINE static T derivative(T x) { return logistic(-x); }
};

}  // namespace phyllo::inline PHYLLO_ISA
