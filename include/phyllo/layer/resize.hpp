// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/interpolation_options.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class Size> inline constexpr int rank_of_size = 0;
template <int... Extent>
inline constexpr int rank_of_size<OutputSize<Extent...>> =
    ((Extent > 0) && ...) && sizeof...(Extent) <= 3 ? int(sizeof...(Extent)) : 0;

template <int... Extent> constexpr Shape shape_of_size(int channels, OutputSize<Extent...>) {
  return Shape(channels, Extent...);
}

}  // namespace detail

/// Linear or cubic interpolation to given spatial extents, larger or smaller ones, as torch's
/// interpolate(x, size, mode, align_corners). Upsample<factor> multiplies the extents.
///
/// shape    (N, C, S...) -> (N, C, Size...), 1 to 3 spatial dimensions; two with
///          CubicInterpolation
/// options  Size = OutputSize<extents...> · LinearInterpolation | CubicInterpolation · AlignCorners
/// errors   compile: another number of extents, or one that is not positive; an unknown option
/// numerics numbers beyond the border are the outermost ones; no smoothing where extents shrink;
///          sums in Precision::accumulate. The gradient is the exact adjoint, in a fixed order
/// cost     one read of the input, one write; 2 or 4 multiply-adds a dimension
/// source   Keys, IEEE Trans. ASSP 29 (1981) 1153, with a = -3/4 as in torch
template <class Size, class... Options> struct Resize {
  static constexpr char const* name = "resize";
  static constexpr Role role = Role::resample;
  using interpolation = detail::Interpolation<Options...>;
  static constexpr int rank = detail::rank_of_size<Size>;
  static constexpr bool valid_options = interpolation::is_valid && rank > 0;

  static constexpr bool accepts(Shape s) {
    return valid_options && interpolation::accepts(s) && s.rank == rank;
  }
  static constexpr Shape expected(Shape s) {
    s.rank = rank;
    return s;
  }
  static constexpr Shape output(Shape s) {
    if constexpr (rank == 0)
      return s;
    else
      return detail::shape_of_size(s.channels, Size{});
  }
  static constexpr ResampleAxes axes(Shape s) { return interpolation::axes(s, output(s)); }

  template <class Where, class Given, class Expected> struct Refused {
    static_assert(detail::met<valid_options, Where>,
                  "Resize: the first option is OutputSize<...> with one to three positive extents. "
                  "The others are LinearInterpolation or CubicInterpolation, and AlignCorners, "
                  "each once.");
    static_assert(detail::met<!valid_options, Where>,
                  "Resize: expected as many spatial extents as OutputSize has, two of them with "
                  "CubicInterpolation. Change OutputSize, or put it before Flatten.");
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
