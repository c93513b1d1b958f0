// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/layer/whole_power.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// y = (Count x)^(1 / Power): the root of a sum of Count numbers whose mean is x.
///
/// shape    any -> the same
/// errors   none
/// numerics not a number for a negative x, unless Power is one; the derivative at zero is zero, as
///          torch's
/// source   Bronshtein et al., Handbook of Mathematics, 2015, §1.1.4
template <int Power, int Count> struct RootOfSum : Pointwise {
  static constexpr char const* name = "root_of_sum";
  static constexpr Derivative derivative_of = Derivative::output;

  template <class T> PHYLLO_FUNCTION static T value(T x) {
    if constexpr (Power == 1)
      return T(Count) * x;
    else if constexpr (Power == 2)
      return square_root(T(Count) * x);
    else
      return Kokkos::pow(T(Count) * x, T(1) / T(Power));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    if constexpr (Power == 1) return T(Count);
    return chosen(y == T(0), T(0), T(Count) / (T(Power) * detail::whole_power<Power - 1>(y)));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
