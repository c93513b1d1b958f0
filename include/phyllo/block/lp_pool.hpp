// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/block/branch.hpp>
#include <phyllo/core/options.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/root_of_sum.hpp>
#include <phyllo/layer/whole_power.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Option>
using LpPoolOption = std::conditional_t<is_option<Option, Stride>, Option, LpPoolTakesStrideOnly>;

}  // namespace detail

/// Root of the sum of powers over a window in 1 spatial dimension, y = (sum of x^Power)^(1 /
/// Power): the norm of the window for an even power, the sum for a power of one. It is three
/// layers: WholePower, AveragePool1d and RootOfSum.
///
/// shape    (N, C, L) -> (N, C, L')
/// options  Stride<Size>
/// errors   compile: as AveragePool1d; another option; a power that is not positive
/// numerics not a number where the sum is negative, unless Power is one; the derivative at a sum of
///          zero is zero, as torch's
/// cost     that of its layers: taps operations, a power and a root per output
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool1d = Path<WholePower<Power>, AveragePool1d<Size, detail::LpPoolOption<Options>...>,
                      RootOfSum<Power, Size>>;

/// Root of the sum of powers over a window in 2 spatial dimensions, y = (sum of x^Power)^(1 /
/// Power): the norm of the window for an even power, the sum for a power of one. It is three
/// layers: WholePower, AveragePool2d and RootOfSum.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// options  Stride<Size>
/// errors   compile: as AveragePool2d; another option; a power that is not positive
/// numerics as LpPool1d
/// cost     as LpPool1d
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool2d = Path<WholePower<Power>, AveragePool2d<Size, detail::LpPoolOption<Options>...>,
                      RootOfSum<Power, Size * Size>>;

/// Root of the sum of powers over a window in 3 spatial dimensions, y = (sum of x^Power)^(1 /
/// Power): the norm of the window for an even power, the sum for a power of one. It is three
/// layers: WholePower, AveragePool3d and RootOfSum.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// options  Stride<Size>
/// errors   compile: as AveragePool3d; another option; a power that is not positive
/// numerics as LpPool1d
/// cost     as LpPool1d
/// source   Gulcehre et al., Learned-Norm Pooling, ECML PKDD 2014
template <int Power, int Size, class... Options>
using LpPool3d = Path<WholePower<Power>, AveragePool3d<Size, detail::LpPoolOption<Options>...>,
                      RootOfSum<Power, Size * Size * Size>>;

}  // namespace phyllo::inline PHYLLO_ISA
