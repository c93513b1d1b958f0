// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/op/pooling.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

/// In place of an option of LpPool that would give its mean another divisor.
struct LpPoolTakesStrideOnly {};

}  // namespace detail

/// Maximum or mean over a sliding window in Rank spatial dimensions: y[n, c, p] = maximum or mean
/// of x[n, c, stride p + k - padding] over k from 0 to size - 1. Write MaxPool2d, AveragePool2d or
/// their relatives in a network.
///
/// shape    (N, C, S...) -> (N, C, S'...),  s' = (s + 2 padding - size) / stride + 1
/// options  Stride<size> · Padding<0> · CeilMode · CountPadding<true>, of means
/// errors   compile: another spatial rank; a window larger than the padded input; padding of more
///          than half a window or another wrong option
/// numerics a maximum propagates NaN; a mean counts the padding, unless CountPadding<false>, but
///          never what a window of CeilMode has beyond it
/// cost     taps operations per output; no parameters
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Rank, op::PoolingKind Kind, int Size, class... Options> struct Pooling {
  static constexpr Role role = Role::pooling;
  static constexpr bool ceil_mode = (detail::is_ceil_mode<Options> || ...);
  static constexpr bool counts_padding = detail::find_count_padding<Options...>();
  static constexpr op::PoolingKind kind =
      Kind == op::PoolingKind::average && (ceil_mode || !counts_padding)
          ? op::PoolingKind::average_counted
          : Kind;
  static constexpr Window window =
      detail::find_window<Rank, KernelSize<Size>, Stride<Size>, Padding<0>, Options...>();
  static constexpr bool valid_options = [] {
    bool at_most_half = true;
    for (int d = 0; d < 3; ++d)
      at_most_half = at_most_half && 2 * window.padding[d] <= window.size[d];
    [[maybe_unused]] constexpr bool means = Kind == op::PoolingKind::average;
    return at_most_half && detail::is_valid(window) && detail::each_once<Options...> &&
           (int(detail::is_ceil_mode<Options>) + ... + 0) <= 1 &&
           (int(detail::is_count_padding<Options>) + ... + 0) <= 1 &&
           ((detail::is_option<Options, Stride> || detail::is_option<Options, Padding> ||
             detail::is_ceil_mode<Options> || (means && detail::is_count_padding<Options>)) &&
            ...);
  }();

  static constexpr bool accepts(Shape s) {
    if (!valid_options || s.rank != Rank) return false;
    if (!ceil_mode) return window.fits(s);
    Shape const y = window.output_rounded_up(s);
    return y.spatial[0] > 0 && y.spatial[1] > 0 && y.spatial[2] > 0;
  }
  static constexpr Shape expected(Shape s) { return window.least(s, Rank); }
  static constexpr Window window_on(Shape) { return window; }
  static constexpr Shape output(Shape s) {
    return ceil_mode ? window.output_rounded_up(s) : window.output(s, s.channels);
  }

  static constexpr bool of_lp_pool =
      (std::is_same_v<Options, detail::LpPoolTakesStrideOnly> || ...);
  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<!of_lp_pool, Where>, "LpPool: the only option is Stride<...>.");
    static_assert(
        detail::met < valid_options || of_lp_pool, Where >,
        "Pool: the options are Stride and Padding (one number, or one for each spatial dimension), "
        "CeilMode, and CountPadding<...> of means, each once; window and stride must be positive, "
        "padding from 0 to half the window.");
    static_assert(detail::met<!valid_options, Where>,
                  "Pool: expected one spatial extent for each dimension in its name, each at least "
                  "the window minus twice the padding. Change the window, Padding or the input.");
  };
};

/// Maximum over a window in 1 spatial dimension; options, numerics and cost as Pooling's.
///
/// shape    (N, C, L) -> (N, C, L')
/// options  Stride<Size> · Padding<0> · CeilMode
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct MaxPool1d : Pooling<1, op::PoolingKind::maximum, Size, Options...> {
  static constexpr char const* name = "max_pool1d";
};

/// Maximum over a window in 2 spatial dimensions; options, numerics and cost as Pooling's.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// options  Stride<Size> · Padding<0> · CeilMode
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct MaxPool2d : Pooling<2, op::PoolingKind::maximum, Size, Options...> {
  static constexpr char const* name = "max_pool2d";
};

/// Maximum over a window in 3 spatial dimensions; options, numerics and cost as Pooling's.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// options  Stride<Size> · Padding<0> · CeilMode
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct MaxPool3d : Pooling<3, op::PoolingKind::maximum, Size, Options...> {
  static constexpr char const* name = "max_pool3d";
};

/// Mean over a window in 1 spatial dimension; options, numerics and cost as Pooling's.
///
/// shape    (N, C, L) -> (N, C, L')
/// options  Stride<Size> · Padding<0> · CeilMode · CountPadding<true>
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct AveragePool1d : Pooling<1, op::PoolingKind::average, Size, Options...> {
  static constexpr char const* name = "average_pool1d";
};

/// Mean over a window in 2 spatial dimensions; options, numerics and cost as Pooling's.
///
/// shape    (N, C, H, W) -> (N, C, H', W')
/// options  Stride<Size> · Padding<0> · CeilMode · CountPadding<true>
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct AveragePool2d : Pooling<2, op::PoolingKind::average, Size, Options...> {
  static constexpr char const* name = "average_pool2d";
};

/// Mean over a window in 3 spatial dimensions; options, numerics and cost as Pooling's.
///
/// shape    (N, C, D, H, W) -> (N, C, D', H', W')
/// options  Stride<Size> · Padding<0> · CeilMode · CountPadding<true>
/// errors   compile: another spatial rank; a window larger than the padded input
/// source   Goodfellow, Bengio, Courville, "Deep Learning", 2016, §9.3
template <int Size, class... Options>
struct AveragePool3d : Pooling<3, op::PoolingKind::average, Size, Options...> {
  static constexpr char const* name = "average_pool3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
