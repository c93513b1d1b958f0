// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/block/branch.hpp>
#include <phyllo/layer/pointwise.hpp>
#include <phyllo/layer/pooling.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

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
      return Kokkos::sqrt(T(Count) * x);
    else
      return Kokkos::pow(T(Count) * x, T(1) / T(Power));
  }
  template <class T> PHYLLO_FUNCTION static T derivative(T y) {
    if constexpr (Power == 1) return T(Count);
    return y == T(0) ? T(0) : T(Count) / (T(Power) * detail::whole_power<Power - 1>(y));
  }
};

/// Root of the sum of powers over a window in 1 spatial dimension, (sum of x^Power)^(1 / Power):
/// the norm of the window for an even power, the sum for a power of one. It is three layers:
/// WholePower, AveragePool1d and RootOfSum.
///
/// shape    (N, C, L) -> (N, C, L')
/// options  Stride<Size>
/// errors   compile: as AveragePool1d; a power that is not positive
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool1d = Path<WholePower<Power>, AveragePool1d<Size, Options...>, RootOfSum<Power, Size>>;

/// The same in 2 spatial dimensions.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// options  Stride<Size>
/// errors   compile: as AveragePool2d; a power that is not positive
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool2d =
    Path<WholePower<Power>, AveragePool2d<Size, Options...>, RootOfSum<Power, Size * Size>>;

/// The same in 3 spatial dimensions.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// options  Stride<Size>
/// errors   compile: as AveragePool3d; a power that is not positive
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool3d =
    Path<WholePower<Power>, AveragePool3d<Size, Options...>, RootOfSum<Power, Size * Size * Size>>;

}  // namespace phyllo::inline PHYLLO_ISA
