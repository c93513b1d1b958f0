// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/map.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// A normalisation of data has constants for each element of a sample instead of each channel.
struct PerElement {};

/// A normalisation of data maps the range from the minimum to the maximum to 0 to 1.
struct MinMax {};

namespace detail {

/// What Normalise and Denormalise read: the offset and the scale of the data.
template <class... Options> struct DataConstants : Map {
  static constexpr bool by_range = (std::is_same_v<Options, MinMax> || ... || false);
  static constexpr bool per_element = (std::is_same_v<Options, PerElement> || ... || false);
  static constexpr MapBuffer buffers[2] = {{by_range ? "minimum" : "mean", 0, per_element},
                                           {by_range ? "range" : "std", 1, per_element}};
  static constexpr bool accepts(Shape) {
    return sizeof...(Options) == std::size_t(by_range) + std::size_t(per_element);
  }
};

}  // namespace detail

/// Brings data in physical units to numbers near one: y = (x - mean) / std for each channel, or
/// (x - minimum) / range with MinMax. The constants are buffers, which `fit_normalisation` computes
/// from a source. They are part of the network's file, and no optimizer changes them.
///
/// Called Normalise because it and Denormalise are one another's inverses under both options; a
/// standardisation, which is the default, has no established name for its inverse.
///
/// shape    any -> the same
/// options  MinMax · PerElement: constants for each element of a sample
/// state    buffers mean (C) and std (C), or minimum (C) and range (C); with PerElement (C, S...);
///          float32; 0 and 1 at first and after `initialize`
/// units    x, mean, std: those of the data; y: dimensionless
/// errors   compile: an unknown option, or one twice
/// numerics in Precision::accumulate. The input is rounded to the storage type before: with bf16 or
///          fp16, data whose mean is much larger than its deviation loses its digits
/// cost     1 difference and 1 quotient an element; no backward pass at an input of the network
/// source   LeCun et al., "Efficient BackProp", 1998, §4.3
template <class... Options> struct Normalise : detail::DataConstants<Options...> {
  static constexpr char const* name = "normalise";
  static constexpr bool normalises = true;

  template <class T> PHYLLO_INLINE static T value(T x, T offset, T scale) {
    return (x - offset) / scale;
  }
  template <class T> PHYLLO_INLINE static Partials<T, 1> derivatives(T, T, T scale) {
    return {T(1) / scale};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Normalise: the options are MinMax and PerElement, each once.");
  };
};

/// Brings the outputs of a network back to physical units, the inverse of Normalise with constants
/// of its own: y = mean + std x, or minimum + range x with MinMax.
///
/// shape    any -> the same
/// options  MinMax · PerElement: constants for each element of a sample
/// state    buffers as those of Normalise; `fit_normalisation` computes them from the targets
/// units    x: dimensionless; y, mean, std: those of the data
/// errors   compile: an unknown option, or one twice
/// numerics in Precision::accumulate; the result is rounded to the storage type
/// cost     1 product and 1 sum an element
/// source   as Normalise
template <class... Options> struct Denormalise : detail::DataConstants<Options...> {
  static constexpr char const* name = "denormalise";
  static constexpr bool normalises = false;

  template <class T> PHYLLO_INLINE static T value(T x, T offset, T scale) {
    return offset + scale * x;
  }
  template <class T> PHYLLO_INLINE static Partials<T, 1> derivatives(T, T, T scale) {
    return {scale};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "Denormalise: the options are MinMax and PerElement, each once.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
