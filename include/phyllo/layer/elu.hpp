// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The exponential linear unit: y = x for x > 0, Alpha (exp(x) - 1) elsewhere.
///
/// shape    any -> the same
/// options  Alpha = 1, above 0
/// errors   compile: Alpha that is not above 0
/// numerics value: relative error at most 7 epsilon; derivative y + Alpha from the rounded output
///          (epsilon of T: 2^-23 for float)
/// cost     1 tanh and 1 division an element; the derivative needs the output only
/// source   Clevert, Unterthiner and Hochreiter, Fast and Accurate Deep Network Learning by
///          Exponential Linear Units, ICLR 2016, eq. 15
template <double Alpha = 1.0> struct ELU : Pointwise {
  static constexpr char const* name = "elu";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr bool accepts(Shape) { return Alpha > 0; }

  template <class T> PHYLLO_INLINE static T value(T x) {
    T const below = T(Alpha) * decay_minus_one(x);
    return chosen(x > T(0), x, below);
  }
  template <class T> PHYLLO_INLINE static T derivative(T y) {
    return chosen(y > T(0), T(1), y + T(Alpha));
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "ELU: Alpha must be above 0.");
  };
};

/// The ELU whose derivative is continuous for every Alpha: y = x for x > 0, Alpha (exp(x / Alpha) -
/// 1) elsewhere.
///
/// shape    any -> the same
/// options  Alpha = 1, above 0
/// errors   compile: Alpha that is not above 0
/// numerics as ELU; derivative y / Alpha + 1 from the rounded output
/// cost     as ELU
/// source   Barron, Continuously Differentiable Exponential Linear Units, arXiv:1704.07483
template <double Alpha = 1.0> struct CELU : Pointwise {
  static constexpr char const* name = "celu";
  static constexpr Derivative derivative_of = Derivative::output;
  static constexpr bool accepts(Shape) { return Alpha > 0; }

  template <class T> PHYLLO_INLINE static T value(T x) {
    T const below = T(Alpha) * decay_minus_one(x * T(1 / Alpha));
    return chosen(x > T(0), x, below);
  }
  template <class T> PHYLLO_INLINE static T derivative(T y) {
    return chosen(y > T(0), T(1), y * T(1 / Alpha) + T(1));
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "CELU: Alpha must be above 0.");
  };
};

/// The self-normalising ELU: y = scale x for x > 0, scale alpha (exp(x) - 1) elsewhere, with the
/// numbers that keep mean zero and variance one.
///
/// shape    any -> the same
/// errors   none: every number is allowed
/// numerics as ELU; the derivative jumps at zero, where it is scale alpha
/// cost     as ELU
/// source   Klambauer et al., Self-Normalizing Neural Networks, NeurIPS 2017, eq. 2 and 14
struct SELU : Pointwise {
  static constexpr char const* name = "selu";
  static constexpr Derivative derivative_of = Derivative::output;

  template <class T> PHYLLO_INLINE static T value(T x) {
    T const below = T(scale * alpha) * decay_minus_one(x);
    return chosen(x > T(0), T(scale) * x, below);
  }
  template <class T> PHYLLO_INLINE static T derivative(T y) {
    return chosen(y > T(0), T(scale), y + T(scale * alpha));
  }

 private:
  static constexpr double alpha = 1.6732632423543772848170429916717;
  static constexpr double scale = 1.0507009873554804934193349852946;
};

}  // namespace phyllo::inline PHYLLO_ISA
