// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_shape.hpp>
#include <phyllo/core/options.hpp>

namespace phyllo::inline PHYLLO_ISA {

// Options of convolutions: one number for all dimensions, or one for each. The last three replace
// Padding; they are torch's padding modes.

/// Positions from one tap of a window to the next.
template <int... Step> struct Dilation {};
/// Padding at the far border; without it as in front.
template <int... Extent> struct PaddingAfter {};
/// Positions that a transposed convolution adds at the far border.
template <int... Extent> struct OutputPadding {};
/// Padding by the input mirrored at its outermost numbers: torch's padding_mode reflect.
template <int... Extent> struct ReflectPadding {};
/// Padding by the outermost numbers of the input: torch's padding_mode replicate.
template <int... Extent> struct ReplicatePadding {};
/// Padding by the input again, as of a periodic field: torch's padding_mode circular.
template <int... Extent> struct CircularPadding {};

/// Channels in Count groups that do not mix; as many as there are channels: depthwise.
template <int Count> struct ChannelGroups {
  static constexpr int value = Count;
};

namespace detail {

template <int... V> inline constexpr int unused_extent<PaddingAfter<V...>> = 0;
template <int... V> inline constexpr int unused_extent<OutputPadding<V...>> = 0;
template <int... V> inline constexpr int unused_extent<ReflectPadding<V...>> = 0;
template <int... V> inline constexpr int unused_extent<ReplicatePadding<V...>> = 0;
template <int... V> inline constexpr int unused_extent<CircularPadding<V...>> = 0;

template <class Option> inline constexpr bool is_groups = false;
template <int N> inline constexpr bool is_groups<ChannelGroups<N>> = true;

/// The options of a convolution as numbers.
struct ConvolutionOptions {
  Window window;
  int dilation[3] = {1, 1, 1};
  int after[3] = {0, 0, 0};  // padding at the far border
  int output_padding[3] = {0, 0, 0};
  int groups = 1;
  PaddingMode mode = PaddingMode::zeros;

  /// Whether op::Contraction computes it.
  constexpr bool is_plain() const {
    bool plain = groups == 1 && mode == PaddingMode::zeros;
    for (int d = 0; d < 3; ++d) plain = plain && dilation[d] == 1 && after[d] == window.padding[d];
    return plain;
  }
  constexpr bool is_valid() const {
    bool valid = detail::is_valid(window) && groups > 0;
    for (int d = 0; d < 3; ++d)
      valid = valid && dilation[d] > 0 && after[d] >= 0 && output_padding[d] >= 0;
    return valid;
  }
  /// Positions that a window's taps reach over.
  constexpr int reach(int d) const { return dilation[d] * (window.size[d] - 1) + 1; }
  /// Padding that the mode can fill from an extent.
  constexpr bool fills(Shape const& s) const {
    if (mode == PaddingMode::zeros || mode == PaddingMode::replicate) return true;
    int const behind = mode == PaddingMode::reflect ? 1 : 0;
    for (int d = 0; d < 3; ++d)
      if (window.padding[d] > s.spatial[d] - behind || after[d] > s.spatial[d] - behind)
        return window.padding[d] == 0 && after[d] == 0;
    return true;
  }
  /// The shape of windows on an image, or of the image of a transposed convolution's windows.
  constexpr Shape grid_of(Shape s, int channels) const {
    for (int d = 0; d < 3; ++d)
      s.spatial[d] =
          (s.spatial[d] + window.padding[d] + after[d] - reach(d)) / window.stride[d] + 1;
    s.channels = channels;
    return s;
  }
  constexpr bool fits(Shape const& s) const {
    for (int d = 0; d < 3; ++d)
      if (s.spatial[d] + window.padding[d] + after[d] < reach(d)) return false;
    return true;
  }
  constexpr Shape image_of(Shape s, int channels) const {
    for (int d = 0; d < 3; ++d)
      s.spatial[d] = (s.spatial[d] - 1) * window.stride[d] - window.padding[d] - after[d] +
                     reach(d) + output_padding[d];
    s.channels = channels;
    return s;
  }
  constexpr ConvolutionShape shape(Shape const& image, Shape const& grid) const {
    ConvolutionShape s;
    s.image = image;
    s.grid = grid;
    for (int d = 0; d < 3; ++d) {
      s.size[d] = window.size[d];
      s.stride[d] = window.stride[d];
      s.dilation[d] = dilation[d];
      s.before[d] = window.padding[d];
    }
    s.groups = groups;
    s.mode = mode;
    return s;
  }
};

template <class Option>
inline constexpr PaddingMode mode_of =
    is_option<Option, ReflectPadding>     ? PaddingMode::reflect
    : is_option<Option, ReplicatePadding> ? PaddingMode::replicate
    : is_option<Option, CircularPadding>  ? PaddingMode::circular
                                          : PaddingMode::zeros;
template <class Option>
inline constexpr bool is_padding =
    is_option<Option, Padding> || mode_of<Option> != PaddingMode::zeros;

template <class Option>
inline constexpr bool is_convolution_option =
    is_window_option<Option> || is_bias<Option> || is_option<Option, Dilation> ||
    is_option<Option, PaddingAfter> || is_padding<Option> || is_groups<Option>;

template <class... Options>
inline constexpr bool convolution_options_once =
    each_once<Options...> && (0 + ... + is_option<Options, Dilation>) <= 1 &&
    (0 + ... + is_option<Options, PaddingAfter>) <= 1 &&
    (0 + ... + is_option<Options, OutputPadding>) <= 1 && (0 + ... + is_padding<Options>) <= 1 &&
    (0 + ... + is_groups<Options>) <= 1;

template <int Rank, class... Options> constexpr ConvolutionOptions find_convolution() {
  ConvolutionOptions c;
  c.window = find_window<Rank, KernelSize<3>, Stride<1>, Padding<0>, Options...>();
  Extents const dilation = find_extents<Rank, Dilation, Dilation<1>, Options...>();
  Extents const output = find_extents<Rank, OutputPadding, OutputPadding<0>, Options...>();
  Extents const after = find_extents<Rank, PaddingAfter, PaddingAfter<0>, Options...>();
  [[maybe_unused]] auto const take = [&]<class Option>() {
    if constexpr (mode_of<Option> != PaddingMode::zeros) {
      Extents const padding = extents_of<Rank>(Option{});
      for (int d = 0; d < 3; ++d) c.window.padding[d] = padding.value[d];
      c.mode = mode_of<Option>;
    }
    if constexpr (is_groups<Option>) c.groups = Option::value;
  };
  (take.template operator()<Options>(), ...);
  bool const has_after = (is_option<Options, PaddingAfter> || ... || false);
  for (int d = 0; d < 3; ++d) {
    c.dilation[d] = dilation.value[d];
    c.output_padding[d] = output.value[d];
    c.after[d] = has_after ? after.value[d] : c.window.padding[d];
  }
  return c;
}

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
