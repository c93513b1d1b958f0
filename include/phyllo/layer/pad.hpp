// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_options.hpp>
#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

#include <climits>

namespace phyllo::inline PHYLLO_ISA {

/// What Pad<Padding<...>> puts around its input; without it zero.
template <double Value> struct Fill {
  static constexpr double value = Value;
};

namespace detail {

template <class Option> inline constexpr bool is_fill = false;
template <double Value> inline constexpr bool is_fill<Fill<Value>> = true;

template <class... Options> constexpr double find_fill() {
  double fill = 0;
  (
      [&] {
        if constexpr (is_fill<Options>) fill = Options::value;
      }(),
      ...);
  return fill;
}

}  // namespace detail

/// More positions around the input, in every spatial dimension, with the options of a convolution's
/// border: a number, its outermost numbers mirrored or repeated, or the input again.
///
/// shape    (N, C, S...) -> (N, C, before + S + after...)
/// options  one of Padding, ReflectPadding, ReplicatePadding, CircularPadding: one number, or one
///          for each spatial dimension · PaddingAfter: at the far border, without it as in front ·
///          Fill<0.0>: the number of Padding
/// errors   compile: an input without spatial extents; another number of numbers; a negative one; a
///          border that is wider than ReflectPadding or CircularPadding can fill
/// numerics exact; the gradient is the sum over the copies
/// cost     one read, one write
/// source   torch.nn.ConstantPad2d, ReflectionPad2d, ReplicationPad2d, CircularPad2d, and those of
///          other ranks
template <class... Options> struct Pad {
  static constexpr char const* name = "pad";
  static constexpr Role role = Role::move;
  static constexpr double fill = detail::find_fill<Options...>();
  static constexpr bool reads_input = ((detail::mode_of<Options> != PaddingMode::zeros) || ...);
  static constexpr bool valid_options =
      (0 + ... + detail::is_padding<Options>) == 1 &&
      ((detail::is_padding<Options> || detail::is_option<Options, PaddingAfter> ||
        detail::is_fill<Options>) &&
       ...) &&
      (0 + ... + detail::is_option<Options, PaddingAfter>) <= 1 &&
      (0 + ... + detail::is_fill<Options>) <= (reads_input ? 0 : 1);

  static constexpr bool accepts(Shape s) {
    if (!valid_options || s.rank == 0 || !options(s).is_valid()) return false;
    auto const o = options(s);
    for (int d = 0; d < 3; ++d)
      if (0L + s.spatial[d] + o.window.padding[d] + o.after[d] > INT_MAX) return false;
    return o.fills(s);
  }
  static constexpr Shape expected(Shape s) { return s; }
  static constexpr Shape output(Shape s) {
    auto const o = options(s);
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] += o.window.padding[d] + o.after[d];
    return s;
  }
  static constexpr MoveMap map(Shape s) {
    auto const o = options(s);
    MoveMap m = MoveMap::of(s);
    for (int d = 3 - s.rank; d < 3; ++d) {
      MoveAxis a = m.axis[d];
      a.begin = -o.window.padding[d];
      a.extent += o.window.padding[d] + o.after[d];
      if (a.extent > a.source_extent) a.mode = o.mode;
      m = m.with(d, a);
    }
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(
        detail::met<valid_options, Where>,
        "Pad: the options are one of Padding, ReflectPadding, ReplicatePadding and "
        "CircularPadding, and PaddingAfter, each once, and Fill<number> for Padding alone.");
    static_assert(detail::met<!valid_options, Where>,
                  "Pad: expected spatial extents, one number for all or one for each, none of them "
                  "negative, and an input that ReflectPadding (less than each extent) or "
                  "CircularPadding (at most each extent) can fill the border from.");
  };

 private:
  static constexpr detail::ConvolutionOptions options(Shape s) {
    return s.rank == 1   ? detail::find_convolution<1, Options...>()
           : s.rank == 2 ? detail::find_convolution<2, Options...>()
                         : detail::find_convolution<3, Options...>();
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
