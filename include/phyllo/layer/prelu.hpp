// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/options.hpp>
#include <phyllo/layer/map.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The rectifier with a trainable slope: y = x where x > 0, else weight x.
///
/// shape    any -> the same
/// options  PerChannel<false>: one slope for each channel · InitialValue<0.25>
/// state    weight (1), or (C) with PerChannel<true>
/// errors   compile: an unknown option
/// numerics the derivatives at zero are those of the negative side, as torch's
/// cost     1 comparison and 1 product an element
/// source   He et al., "Delving Deep into Rectifiers", ICCV 2015, eq. 1
template <class... Options> struct PReLU : Map {
  static constexpr char const* name = "prelu";
  static constexpr MapParameter parameters[1] = {{"weight",
                                                  detail::find_initial_value<Options...>(0.25),
                                                  detail::find_per_channel<Options...>(false)}};
  static constexpr bool valid_options = detail::are_vector_options<true, Options...>;
  static constexpr bool accepts(Shape) { return valid_options; }

  template <class T> PHYLLO_INLINE static T value(T x, T weight) {
    return chosen(x > T(0), x, weight * x);
  }
  template <class T> PHYLLO_INLINE static Partials<T, 2> derivatives(T x, T weight) {
    return {chosen(x > T(0), T(1), weight), chosen(x > T(0), T(0), x)};
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<false, Where>,
                  "PReLU: the options are PerChannel<...> and InitialValue<...>, each once.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
