// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/interpolation_options.hpp>
#include <phyllo/core/move_map.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Upsampling by a whole factor in every spatial dimension, by linear or cubic interpolation; by
/// the nearest neighbour without an option. Resize produces given extents.
///
/// shape    (N, C, S...) -> (N, C, Factor S...); two spatial dimensions with CubicInterpolation
/// options  LinearInterpolation | CubicInterpolation · AlignCorners, with linear interpolation if
///          alone
/// errors   compile: an input without spatial extents; a factor that is not positive; an unknown
///          option
/// numerics as Resize
/// cost     as Resize
/// source   Keys, IEEE Trans. ASSP 29 (1981) 1153, with a = -3/4 as in torch
template <int Factor, class... Options> struct Upsample {
  static constexpr char const* name = "upsample";
  static constexpr Role role = Role::resample;
  using interpolation = detail::Interpolation<Options...>;
  static constexpr bool valid_options = interpolation::is_valid && Factor > 0;

  static constexpr bool accepts(Shape s) { return valid_options && interpolation::accepts(s); }
  static constexpr Shape expected(Shape s) { return interpolation::expected(s); }
  static constexpr Shape output(Shape s) {
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] *= Factor;
    return s;
  }
  static constexpr ResampleAxes axes(Shape s) { return interpolation::axes(s, output(s)); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Upsample: the factor must be positive, and the options are LinearInterpolation "
                  "or CubicInterpolation, and AlignCorners, each once.");
    static_assert(detail::met<!valid_options, Where>,
                  "Upsample: expected spatial extents, two of them with CubicInterpolation. Put it "
                  "before Flatten, or use LinearInterpolation.");
  };
};

/// Nearest-neighbour upsampling by a whole factor in every spatial dimension.
///
/// shape    (N, C, S...) -> (N, C, Factor S...)
/// errors   compile: an input without spatial extents; a factor that is not positive
/// numerics exact; the gradient is the sum over the copies
/// cost     one read, Factor^rank writes
/// source   Odena, Dumoulin, Olah, "Deconvolution and Checkerboard Artifacts", Distill 2016
template <int Factor> struct Upsample<Factor> {
  static constexpr char const* name = "upsample";
  static constexpr Role role = Role::move;

  static constexpr bool accepts(Shape s) { return Factor > 0 && s.rank > 0; }
  static constexpr Shape expected(Shape s) { return s.rank > 0 ? s : Shape{s.channels, 1, 1}; }
  static constexpr Shape output(Shape s) {
    for (int d = 3 - s.rank; d < 3; ++d) s.spatial[d] *= Factor;
    return s;
  }
  static constexpr MoveMap map(Shape s) {
    MoveMap m = MoveMap::of(s);
    for (int d = 3 - s.rank; d < 3; ++d) {
      MoveAxis a = m.axis[d];
      a.repeat = Factor;
      a.extent *= Factor;
      m = m.with(d, a);
    }
    return m;
  }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<(Factor > 0), Where>, "Upsample: the factor must be positive.");
    static_assert(detail::met<(Factor <= 0), Where>,
                  "Upsample: expected spatial extents, got channels only. Put it before Flatten.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
