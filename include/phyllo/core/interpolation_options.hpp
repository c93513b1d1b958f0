// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/options.hpp>
#include <phyllo/core/resample_axis.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Between neighbouring numbers by straight lines, in each spatial dimension: torch's modes linear,
/// bilinear and trilinear.
struct LinearInterpolation {};
/// By cubic convolution over four numbers in each dimension: torch's mode bicubic.
struct CubicInterpolation {};
/// The outermost numbers of input and output are at the same places. Without it their outer edges
/// are.
struct AlignCorners {};
/// The spatial extents of a result.
template <int... Extent> struct OutputSize {};

namespace detail {

/// What the options of an interpolation mean.
template <class... Options> struct Interpolation {
  static constexpr int linear = (int(std::is_same_v<Options, LinearInterpolation>) + ... + 0);
  static constexpr int cubic = (int(std::is_same_v<Options, CubicInterpolation>) + ... + 0);
  static constexpr int corners = (int(std::is_same_v<Options, AlignCorners>) + ... + 0);
  static constexpr bool is_valid =
      linear + cubic + corners == int(sizeof...(Options)) && linear + cubic <= 1 && corners <= 1;

  static constexpr bool accepts(Shape s) { return s.rank > 0 && (cubic == 0 || s.rank == 2); }
  static constexpr Shape expected(Shape s) {
    return cubic > 0 ? Shape{s.channels, s.spatial[1], s.spatial[2]} : Shape{s.channels, 1, 1};
  }
  static constexpr ResampleAxes axes(Shape const& from, Shape const& to) {
    ResampleAxes axes;
    for (int d = 0; d < 3; ++d)
      axes.axis[d] =
          ResampleAxis::between(from.spatial[d], to.spatial[d], cubic > 0 ? 4 : 2, corners > 0);
    return axes;
  }
};

}  // namespace detail
}  // namespace phyllo::inline PHYLLO_ISA
