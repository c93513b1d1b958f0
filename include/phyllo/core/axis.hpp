// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// An axis of a sample (C, S...). The last spatial axis is the width in any rank; a sequence calls
/// it its length.
enum class Axis : std::uint8_t { channels, depth, height, width, length = width };

namespace detail {

// Spatial extents that a shape with this axis has at least.
PHYLLO_FUNCTION constexpr int least_rank(Axis axis) {
  return axis == Axis::channels ? 0 : 4 - int(axis);
}
PHYLLO_FUNCTION constexpr bool has_axis(Shape const& s, Axis axis) {
  return s.rank >= least_rank(axis);
}
PHYLLO_FUNCTION constexpr int& extent(Shape& s, Axis axis) {
  return axis == Axis::channels ? s.channels : s.spatial[int(axis) - 1];
}
PHYLLO_FUNCTION constexpr int extent(Shape const& s, Axis axis) {
  return axis == Axis::channels ? s.channels : s.spatial[int(axis) - 1];
}
/// Numbers from one index of the axis to the next.
PHYLLO_FUNCTION constexpr int stride(Shape const& s, Axis axis) {
  if (axis == Axis::channels) return 1;
  int count = s.channels;
  for (int d = int(axis); d < 3; ++d) count *= s.spatial[d];
  return count;
}
/// The same shape with extents of one where it lacks the axis.
PHYLLO_FUNCTION constexpr Shape with_axis(Shape s, Axis axis) {
  if (!has_axis(s, axis)) s.rank = least_rank(axis);
  return s;
}

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
