// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Discrete convolution (cross-correlation) in Rank spatial dimensions: y[n, o, p] = bias[o] + sum
/// over channels c of the group and taps k of weight[o, c, k] x[n, c, stride p + dilation k -
/// padding]. Write Conv1d, Conv2d or Conv3d in a network.
///
/// shape    (N, C, S...) -> (N, Out, S'...),
///          s' = (s + padding before and after - dilation (kernel - 1) - 1) / stride + 1
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true> · Dilation<1> · ChannelGroups<1> ·
///          PaddingAfter<as Padding> · instead of Padding: ReflectPadding, ReplicatePadding,
///          CircularPadding
/// state    weight (Out, C / groups, kernel...) · bias (Out)
/// errors   compile: another spatial rank; a kernel larger than the padded input; channels that
///          the groups do not divide; more padding than there is to mirror; a wrong option
/// numerics accumulates in Precision::accumulate, bias first
/// cost     2 N Out S' C taps / groups flop
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A; Yu and Koltun, "Multi-Scale Context
///          Aggregation by Dilated Convolutions", ICLR 2016
template <int Rank, int Out, class... Options> struct Convolution {
  static constexpr detail::ConvolutionOptions options =
      detail::find_convolution<Rank, Options...>();
  static constexpr Role role = options.is_plain() ? Role::contraction : Role::convolution;
  static constexpr Window window = options.window;
  static constexpr bool has_bias = detail::find_bias<Options...>();
  static constexpr bool is_transposed = false;
  static constexpr bool valid_options =
      Out > 0 && (detail::is_convolution_option<Options> && ...) &&
      detail::convolution_options_once<Options...>&& options.is_valid();
  static constexpr bool valid_groups = Out % (options.groups > 0 ? options.groups : 1) == 0;

  static constexpr bool accepts(Shape s) {
    return valid_options && valid_groups && s.rank == Rank && s.channels % options.groups == 0 &&
           options.fits(s) && options.fills(s);
  }
  static constexpr Shape expected(Shape s) {
    if (!valid_options || !valid_groups) return s;
    s.rank = Rank;
    for (int d = 0; d < 3; ++d) {
      int const padding = options.window.padding[d] + options.after[d];
      if (d < 3 - Rank) s.spatial[d] = 1;
      if (s.spatial[d] < options.reach(d) - padding) s.spatial[d] = options.reach(d) - padding;
      while (!options.fills(s) && s.spatial[d] <= padding) ++s.spatial[d];
    }
    s.channels = (s.channels + options.groups - 1) / options.groups * options.groups;
    return s;
  }
  static constexpr Shape output(Shape s) { return options.grid_of(s, Out); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Conv: the options are KernelSize, Stride, Padding (one number, or one for each "
                  "spatial dimension), likewise PaddingAfter and Dilation, ChannelGroups and Bias, "
                  "each once, and ReflectPadding, ReplicatePadding or CircularPadding instead of "
                  "Padding; channels, kernel and stride must be positive, padding must not be "
                  "negative, dilation and groups are at least one.");
    static_assert(detail::met < !valid_options || valid_groups, Where >,
                  "Conv: ChannelGroups must divide the channels of the layer. Change either.");
    static_assert(
        detail::met < !valid_options || !valid_groups, Where >,
        "Conv: expected one spatial extent for each dimension in its name, each at least the "
        "extent of the kernel minus the padding, mirrored or repeated padding within the image, "
        "and channels that ChannelGroups divides. Change the options or the input.");
  };
};

/// Convolution in 1 spatial dimension; options, numerics and cost as Convolution's.
///
/// shape    (N, C, L) -> (N, Out, L')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true> · those of Convolution
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv1d : Convolution<1, Out, Options...> {
  static constexpr char const* name = "conv1d";
};

/// Convolution in 2 spatial dimensions; options, numerics and cost as Convolution's.
///
/// shape    (N, C, H, W) -> (N, Out, H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true> · those of Convolution
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv2d : Convolution<2, Out, Options...> {
  static constexpr char const* name = "conv2d";
};

/// Convolution in 3 spatial dimensions; options, numerics and cost as Convolution's.
///
/// shape    (N, C, D, H, W) -> (N, Out, D', H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · Bias<true> · those of Convolution
/// errors   compile: another spatial rank; a kernel larger than the padded input
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, §II.A
template <int Out, class... Options> struct Conv3d : Convolution<3, Out, Options...> {
  static constexpr char const* name = "conv3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
