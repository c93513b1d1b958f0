// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A sliding window in up to three dimensions; index 0 is depth, 1 height, 2 width, and a
/// dimension that is not in use has extent one, stride one and no padding.
struct Window {
  int size[3] = {1, 1, 1};
  int stride[3] = {1, 1, 1};
  int padding[3] = {0, 0, 0};  // zeros (or minus infinity for a maximum) on each side

  /// Number of taps.
  PHYLLO_FUNCTION constexpr int taps() const { return size[0] * size[1] * size[2]; }

  /// Whether it sees one position at a time, each of its output positions one of the input.
  PHYLLO_FUNCTION constexpr bool is_one_tap() const {
    return taps() == 1 && padding[0] + padding[1] + padding[2] == 0;
  }

  PHYLLO_FUNCTION constexpr bool fits(Shape const& s) const {
    for (int d = 0; d < 3; ++d)
      if (s.spatial[d] + 2 * padding[d] < size[d]) return false;
    return true;
  }
  /// The smallest shape of a rank that is not smaller than s and that the window fits.
  PHYLLO_FUNCTION constexpr Shape least(Shape s, int rank) const {
    s.rank = rank;
    for (int d = 0; d < 3; ++d) {
      int const fitting = size[d] - 2 * padding[d];
      if (d < 3 - rank) s.spatial[d] = 1;
      if (s.spatial[d] < fitting) s.spatial[d] = fitting;
    }
    return s;
  }
  /// Whether a window of an output of these extents reaches beyond the padding.
  PHYLLO_FUNCTION constexpr bool reaches_beyond(Shape const& s, Shape const& output) const {
    for (int d = 0; d < 3; ++d)
      if ((output.spatial[d] - 1) * stride[d] + size[d] > s.spatial[d] + 2 * padding[d])
        return true;
    return false;
  }
  /// The same shape with one more window where the last one does not reach the border, if that one
  /// begins in the input or the padding before it. An extent of no window is not positive.
  ///
  /// source   torch's pooling_output_shape with ceil_mode
  PHYLLO_FUNCTION constexpr Shape output_rounded_up(Shape s) const {
    for (int d = 0; d < 3; ++d) {
      int const room = s.spatial[d] + 2 * padding[d] - size[d] + stride[d] - 1;
      int windows = room < 0 ? 0 : room / stride[d] + 1;
      if ((windows - 1) * stride[d] >= s.spatial[d] + padding[d]) --windows;
      s.spatial[d] = windows;
    }
    return s;
  }
  /// Shape with `channels` channels that the window produces when it slides over s.
  PHYLLO_FUNCTION constexpr Shape output(Shape s, int channels) const {
    for (int d = 0; d < 3; ++d)
      s.spatial[d] = (s.spatial[d] + 2 * padding[d] - size[d]) / stride[d] + 1;
    s.channels = channels;
    return s;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
