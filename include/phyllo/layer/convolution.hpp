// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Discrete convolution (cross-correlation) in Rank spatial dimensions. Write Conv1d, Conv2d or
/// Conv3d in a network.
///
/// shape    (N, C, S...) -> (N, Out, S'...),  s' = (s + 2 padding - kernel) / stride + 1
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// state    weight (Out, C, kernel...) · bias (Out)
/// errors   compile: another spatial rank; a kernel larger than the padded input; a wrong option
/// numerics accumulates in Precision::accumulate, bias first
/// cost     2 N Out S' C taps flop
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Rank, int Out, class... Options> struct Convolution {
  static constexpr Role role = Role::contraction;
  static constexpr Window window =
      detail::find_window<Rank, KernelSize<3>, Stride<1>, Padding<0>, Options...>();
  static constexpr bool has_bias = detail::find_bias<Options...>();
  static constexpr bool valid_options =
      Out > 0 && ((detail::is_window_option<Options> || detail::is_bias<Options>) && ...) &&
      detail::each_once<Options...>&& detail::is_valid(window);

  static constexpr bool accepts(Shape s) {
    return valid_options && s.rank == Rank && window.fits(s);
  }
  static constexpr Shape expected(Shape s) { return window.least(s, Rank); }
  static constexpr Shape output(Shape s) { return window.output(s, Out); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Conv: the options are KernelSize, Stride, Padding (one number, or one for each "
                  "spatial dimension) and Bias, each once; channels, kernel and stride must be "
                  "positive, padding must not be negative.");
    static_assert(
        detail::met<!valid_options, Where>,
        "Conv: expected one spatial extent for each dimension in its name, each at least the "
        "kernel size minus twice the padding. Change KernelSize, Padding or the input.");
  };
};

/// Convolution in 1 spatial dimension; options, numerics and cost as Convolution's.
///
/// shape    (N, C, L) -> (N, Out, L')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv1d : Convolution<1, Out, Options...> {
  static constexpr char const* name = "conv1d";
};

/// Convolution in 2 spatial dimensions; options, numerics and cost as Convolution's.
///
/// shape    (N, C, H, W) -> (N, Out, H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv2d : Convolution<2, Out, Options...> {
  static constexpr char const* name = "conv2d";
};

/// Convolution in 3 spatial dimensions; options, numerics and cost as Convolution's.
///
/// shape    (N, C, D, H, W) -> (N, Out, D', H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true>
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv3d : Convolution<3, Out, Options...> {
  static constexpr char const* name = "conv3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
