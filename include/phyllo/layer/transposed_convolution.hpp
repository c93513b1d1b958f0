// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Transposed convolution in Rank spatial dimensions: the gradient of a convolution by its input,
/// as a layer. y[n, o, q] = bias[o] + sum of weight[c, o, k] x[n, c, p] over all channels c of the
/// group, taps k and positions p with stride p + dilation k - padding = q. Write ConvTranspose1d,
/// ConvTranspose2d or ConvTranspose3d in a network.
///
/// shape    (N, C, S...) -> (N, Out, S'...),
///          s' = (s - 1) stride - 2 padding + dilation (kernel - 1) + 1 + output padding
/// options  KernelSize<3> · Stride<1> · Padding<0> · OutputPadding<0> · Dilation<1> ·
///          ChannelGroups<1> · Bias<true>
/// state    weight (C, Out / groups, kernel...) · bias (Out)
/// errors   compile: another spatial rank; an output without positions; output padding that is not
///          below the stride or the dilation; channels that the groups do not divide
/// numerics accumulates in Precision::accumulate, bias first
/// cost     2 N C S Out taps / groups flop
/// source   Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, §4
template <int Rank, int Out, class... Options> struct TransposedConvolution {
  static constexpr detail::ConvolutionOptions options =
      detail::find_convolution<Rank, Options...>();
  static constexpr Role role = Role::convolution;
  static constexpr bool has_bias = detail::find_bias<Options...>();
  static constexpr bool is_transposed = true;
  static constexpr bool valid_options =
      Out > 0 &&
      ((detail::is_window_option<Options> || detail::is_bias<Options> ||
        detail::is_option<Options, Dilation> || detail::is_option<Options, OutputPadding> ||
        detail::is_groups<Options>) &&
       ...) &&
      detail::convolution_options_once<Options...>&& options.is_valid();
  static constexpr bool valid_groups = Out % (options.groups > 0 ? options.groups : 1) == 0;
  static constexpr bool valid_output = [] {
    for (int d = 0; d < 3; ++d) {
      int const larger = options.window.stride[d] > options.dilation[d] ? options.window.stride[d]
                                                                        : options.dilation[d];
      if (options.output_padding[d] > 0 && options.output_padding[d] >= larger) return false;
    }
    return true;
  }();
  static constexpr bool valid = valid_options && valid_groups && valid_output;

  static constexpr bool accepts(Shape s) {
    if (!valid || s.rank != Rank || s.channels % options.groups != 0) return false;
    Shape const image = options.image_of(s, Out);
    return image.spatial[0] > 0 && image.spatial[1] > 0 && image.spatial[2] > 0;
  }
  static constexpr Shape expected(Shape s) {
    if (!valid) return s;
    s.rank = Rank;
    for (int d = 0; d < 3; ++d) {
      if (d < 3 - Rank) s.spatial[d] = 1;
      while (options.image_of(s, Out).spatial[d] < 1) ++s.spatial[d];
    }
    s.channels = (s.channels + options.groups - 1) / options.groups * options.groups;
    return s;
  }
  static constexpr Shape output(Shape s) { return options.image_of(s, Out); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "ConvTranspose: the options are KernelSize, Stride, Padding, OutputPadding, "
        "Dilation (one number, or one for each spatial dimension), ChannelGroups and Bias, each "
        "once; channels, kernel and stride must be positive, padding must not be negative, "
        "dilation and groups are at least one.");
    static_assert(
        detail::met < !valid_options || valid_groups, Where >,
        "ConvTranspose: ChannelGroups must divide the channels of the layer. Change either.");
    static_assert(detail::met < !valid_options || !valid_groups || valid_output, Where >,
                  "ConvTranspose: OutputPadding must be smaller than Stride or Dilation.");
    static_assert(
        detail::met<!valid, Where>,
        "ConvTranspose: expected one spatial extent for each dimension in its name, an "
        "output that has positions, and channels that ChannelGroups divides. Change the options "
        "or the input.");
  };
};

/// Transposed convolution in 1 spatial dimension; options, numerics and cost as
/// TransposedConvolution's.
///
/// shape    (N, C, L) -> (N, Out, L')
/// options  KernelSize<3> · Stride<1> · Padding<0> · those of TransposedConvolution
/// errors   compile: another spatial rank; an output without positions
/// source   Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, §4
template <int Out, class... Options>
struct ConvTranspose1d : TransposedConvolution<1, Out, Options...> {
  static constexpr char const* name = "conv_transpose1d";
};

/// Transposed convolution in 2 spatial dimensions; options, numerics and cost as
/// TransposedConvolution's.
///
/// shape    (N, C, H, W) -> (N, Out, H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · those of TransposedConvolution
/// errors   compile: another spatial rank; an output without positions
/// source   Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, §4
template <int Out, class... Options>
struct ConvTranspose2d : TransposedConvolution<2, Out, Options...> {
  static constexpr char const* name = "conv_transpose2d";
};

/// Transposed convolution in 3 spatial dimensions; options, numerics and cost as
/// TransposedConvolution's.
///
/// shape    (N, C, D, H, W) -> (N, Out, D', H', W')
/// options  KernelSize<3> · Stride<1> · Padding<0> · those of TransposedConvolution
/// errors   compile: another spatial rank; an output without positions
/// source   Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016, §4
template <int Out, class... Options>
struct ConvTranspose3d : TransposedConvolution<3, Out, Options...> {
  static constexpr char const* name = "conv_transpose3d";
};

}  // namespace phyllo::inline PHYLLO_ISA
