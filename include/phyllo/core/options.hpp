// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Taps of a window: one number for all dimensions, or one for each.
template <int... Extent> struct KernelSize {};
/// Positions from one window to the next: one number for all dimensions, or one for each.
template <int... Extent> struct Stride {};
/// Zeros around the input, as many at both borders: one number for all dimensions, or one for each.
template <int... Extent> struct Padding {};

/// Frequencies of a spectral convolution; one number for all dimensions or one for each.
template <int... Count> struct Modes {};

/// Bias<false> leaves out the additive parameter of a Linear or Conv layer.
template <bool Present> struct Bias {
  static constexpr bool value = Present;
};

/// A Linear layer acts on the channels of every position, as torch's on the last axis.
struct PerPosition {};

/// Affine<false> leaves out the scale and shift of a normalisation.
template <bool Present> struct Affine {
  static constexpr bool value = Present;
};

/// A pooling has one more window where the last ones do not reach the border, as torch's ceil_mode.
struct CeilMode {};

/// CountPadding<false> leaves the padding out of the number that an average divides by.
template <bool Counted> struct CountPadding {
  static constexpr bool value = Counted;
};

/// What a normalisation adds to a variance.
template <double Value> struct Epsilon {
  static constexpr double value = Value;
};

/// The share of a batch in a normalisation's running statistics: running += Value (batch -
/// running).
template <double Value> struct Momentum {
  static constexpr double value = Value;
};

/// PerChannel<true> gives each channel a parameter of its own.
template <bool Present> struct PerChannel {
  static constexpr bool value = Present;
};

/// What every element of a parameter is at first.
template <double Value> struct InitialValue {
  static constexpr double value = Value;
};

namespace detail {

template <class Option> inline constexpr bool is_momentum = false;
template <double Value>
inline constexpr bool is_momentum<Momentum<Value>> = Value > 0 && Value <= 1;
template <class... Options> constexpr double find_momentum() {
  double momentum = 0.1;
  (
      [&] {
        if constexpr (is_momentum<Options>) momentum = Options::value;
      }(),
      ...);
  return momentum;
}

template <class Option> inline constexpr bool is_per_channel = false;
template <bool Present> inline constexpr bool is_per_channel<PerChannel<Present>> = true;
template <class Option> inline constexpr bool is_initial_value = false;
template <double Value> inline constexpr bool is_initial_value<InitialValue<Value>> = true;

template <class... Options> constexpr bool find_per_channel(bool otherwise) {
  (
      [&] {
        if constexpr (is_per_channel<Options>) otherwise = Options::value;
      }(),
      ...);
  return otherwise;
}
template <class... Options> constexpr double find_initial_value(double otherwise) {
  (
      [&] {
        if constexpr (is_initial_value<Options>) otherwise = Options::value;
      }(),
      ...);
  return otherwise;
}
// The options of a layer with parameters of one vector, each at most once.
template <bool HasPerChannel, class... Options>
inline constexpr bool are_vector_options =
    (((HasPerChannel && is_per_channel<Options>) || is_initial_value<Options>) && ...) &&
    (int(is_per_channel<Options>) + ... + 0) <= 1 &&
    (int(is_initial_value<Options>) + ... + 0) <= 1;

template <class Option> inline constexpr bool is_bias = false;
template <bool Present> inline constexpr bool is_bias<Bias<Present>> = true;

template <class Option> inline constexpr bool is_affine = false;
template <bool Present> inline constexpr bool is_affine<Affine<Present>> = true;
template <class Option> inline constexpr bool is_epsilon = false;
template <double Value> inline constexpr bool is_epsilon<Epsilon<Value>> = Value > 0;

template <class... Options> constexpr bool find_affine(bool affine = true) {
  (
      [&] {
        if constexpr (is_affine<Options>) affine = Options::value;
      }(),
      ...);
  return affine;
}
template <class... Options> constexpr double find_epsilon() {
  double epsilon = 1e-5;
  (
      [&] {
        if constexpr (is_epsilon<Options>) epsilon = Options::value;
      }(),
      ...);
  return epsilon;
}
// The options of a normalisation over rows, each at most once.
template <class... Options>
inline constexpr bool are_row_options =
    ((is_affine<Options> || is_epsilon<Options>) && ...) &&
    (int(is_affine<Options>) + ... + 0) <= 1 && (int(is_epsilon<Options>) + ... + 0) <= 1;
// The same, and Bias<...>.
template <class... Options>
inline constexpr bool are_layer_norm_options =
    ((is_affine<Options> || is_bias<Options> || is_epsilon<Options>) && ...) &&
    (int(is_affine<Options>) + ... + 0) <= 1 && (int(is_bias<Options>) + ... + 0) <= 1 &&
    (int(is_epsilon<Options>) + ... + 0) <= 1;

template <class Option> inline constexpr bool is_ceil_mode = false;
template <> inline constexpr bool is_ceil_mode<CeilMode> = true;
template <class Option> inline constexpr bool is_count_padding = false;
template <bool Counted> inline constexpr bool is_count_padding<CountPadding<Counted>> = true;

template <class... Options> constexpr bool find_count_padding() {
  bool counted = true;
  (
      [&] {
        if constexpr (is_count_padding<Options>) counted = Options::value;
      }(),
      ...);
  return counted;
}

struct Extents {
  int value[3] = {1, 1, 1};
};

// The numbers of an option at the trailing dimensions: <3> in rank 2 is (1, 3, 3). Neither one
// number nor one for each dimension: -1, which is_valid refuses.
template <int Rank, int... V> constexpr Extents spread(int unused) {
  constexpr int count = sizeof...(V);
  Extents e{{unused, unused, unused}};
  if constexpr (count == 1 || count == Rank) {
    constexpr int given[] = {V...};
    for (int d = 0; d < Rank; ++d) e.value[3 - Rank + d] = given[count == 1 ? 0 : d];
  } else {
    for (int& value : e.value) value = -1;
  }
  return e;
}

template <class Option, template <int...> class Name> inline constexpr bool is_option = false;
template <int... V, template <int...> class Name>
inline constexpr bool is_option<Name<V...>, Name> = true;

// What an option says of a dimension that is not in use.
template <class Option> inline constexpr int unused_extent = 1;
template <int... V> inline constexpr int unused_extent<Padding<V...>> = 0;

template <int Rank, template <int...> class Name, int... V>
constexpr Extents extents_of(Name<V...>) {
  return spread<Rank, V...>(unused_extent<Name<V...>>);
}

template <int Rank, template <int...> class Name, class Default, class... Options>
constexpr Extents find_extents() {
  Extents e = extents_of<Rank>(Default{});
  (
      [&] {
        if constexpr (is_option<Options, Name>) e = extents_of<Rank>(Options{});
      }(),
      ...);
  return e;
}

template <class Option> inline constexpr bool is_per_position = false;
template <> inline constexpr bool is_per_position<PerPosition> = true;

template <class... Options> constexpr bool find_bias() {
  bool present = true;
  (
      [&] {
        if constexpr (is_bias<Options>) present = Options::value;
      }(),
      ...);
  return present;
}

template <class Option>
inline constexpr bool is_window_option =
    is_option<Option, KernelSize> || is_option<Option, Stride> || is_option<Option, Padding>;

// No option is given twice.
template <class... Options>
inline constexpr bool each_once =
    ((0 + ... + is_option<Options, KernelSize>) <= 1) &&
    ((0 + ... + is_option<Options, Stride>) <= 1) &&
    ((0 + ... + is_option<Options, Padding>) <= 1) && ((0 + ... + is_bias<Options>) <= 1);

/// Window of a layer from its options, each with the layer's default.
template <int Rank, class Size, class Step, class Pad, class... Options>
constexpr Window find_window() {
  Extents const size = find_extents<Rank, KernelSize, Size, Options...>();
  Extents const step = find_extents<Rank, Stride, Step, Options...>();
  Extents const pad = find_extents<Rank, Padding, Pad, Options...>();
  Window w;
  for (int d = 0; d < 3; ++d) {
    w.size[d] = size.value[d];
    w.stride[d] = step.value[d];
    w.padding[d] = pad.value[d];
  }
  return w;
}

constexpr bool is_valid(Window const& w) {
  for (int d = 0; d < 3; ++d)
    if (w.size[d] < 1 || w.stride[d] < 1 || w.padding[d] < 0) return false;
  return true;
}

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
