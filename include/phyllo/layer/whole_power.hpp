// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/layer/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <int Power, class T> PHYLLO_INLINE T whole_power(T x) {
  T y = T(1);
  for (int i = 0; i < Power; ++i) y *= x;
  return y;
}

}  // namespace detail

/// y = x^Power, for a whole positive power.
///
/// shape    any -> the same
/// errors   compile: a power that is not positive
/// numerics products; x^Power overflows where it is beyond the storage type
/// source   Bronshtein et al., Handbook of Mathematics, 2015, §1.1.4
template <int Power> struct WholePower : Pointwise {
  static constexpr char const* name = "whole_power";
  static constexpr bool accepts(Shape) { return Power > 0; }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "WholePower, LpPool: the power must be positive.");
  };

  template <class T> PHYLLO_FUNCTION static T value(T x) { return detail::whole_power<Power>(x); }
  template <class T> PHYLLO_FUNCTION static T derivative(T x) {
    return T(Power) * detail::whole_power<Power - 1>(x);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
