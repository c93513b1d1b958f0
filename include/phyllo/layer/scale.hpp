// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/layer/map.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A trainable factor for each channel: y = weight x. At the end of a residual path it begins with
/// a small value, so that deep networks begin near the identity.
///
/// shape    any -> the same
/// options  InitialValue<1e-5>
/// state    weight (C)
/// errors   compile: an unknown option
/// numerics exact but for one rounding
/// cost     1 product an element
/// source   Touvron et al., "Going deeper with Image Transformers", ICCV 2021, §2
template <class... Options> struct LayerScale : Map {
  static constexpr char const* name = "layer_scale";
  static constexpr MapParameter parameters[1] = {
      {"weight", detail::find_initial_value<Options...>(1e-5)}};
  static constexpr bool valid_options = detail::are_vector_options<false, Options...>;
  static constexpr bool accepts(Shape) { return valid_options; }

  template <class T> PHYLLO_INLINE static T value(T x, T weight) { return weight * x; }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T x, T weight) {
    return {weight, x};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>, "LayerScale: the option is InitialValue<...>, once.");
  };
};

/// A trainable factor and summand for each channel, what a normalisation applies behind its
/// statistics: y = weight x + bias. They begin as one and zero.
///
/// shape    any -> the same
/// state    weight (C), bias (C)
/// errors   none
/// numerics in Precision::accumulate
/// cost     1 product and 1 sum an element
/// source   Touvron et al., "ResMLP", arXiv:2105.03404, eq. 1
struct ScaleShift : Map {
  static constexpr char const* name = "scale_shift";
  static constexpr MapParameter parameters[] = {{"weight", 1}, {"bias", 0}};

  template <class T> PHYLLO_INLINE static T value(T x, T weight, T bias) {
    return weight * x + bias;
  }
  template <class T> PHYLLO_INLINE static Partials<T, 3> derivatives(T x, T weight, T) {
    return {weight, x, T(1)};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
