// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Extents of one sample: channels and up to three spatial extents, written in the field's order.
///
/// shape    Shape{C} · Shape{C, L} · Shape{C, H, W} · Shape{C, D, H, W}
/// numerics in memory a batch of samples is channels-last and row-major: (N, D, H, W, C); the
///          width is always spatial[2], extents that a smaller rank lacks are one
struct Shape {
  int channels = 0;
  int rank = 0;                // number of spatial extents, 0 to 3
  int spatial[3] = {1, 1, 1};  // depth, height, width

  constexpr Shape() = default;
  PHYLLO_FUNCTION constexpr Shape(int c) : channels(c) {}
  PHYLLO_FUNCTION constexpr Shape(int c, int w) : channels(c), rank(1), spatial{1, 1, w} {}
  PHYLLO_FUNCTION constexpr Shape(int c, int h, int w) : channels(c), rank(2), spatial{1, h, w} {}
  PHYLLO_FUNCTION constexpr Shape(int c, int d, int h, int w)
      : channels(c), rank(3), spatial{d, h, w} {}

  /// A shape of the same rank with other channels.
  PHYLLO_FUNCTION constexpr Shape with_channels(int c) const {
    Shape s = *this;
    s.channels = c;
    return s;
  }
  /// Number of positions (pixels) that each carry all channels.
  PHYLLO_FUNCTION constexpr int positions() const { return spatial[0] * spatial[1] * spatial[2]; }
  PHYLLO_FUNCTION constexpr int size() const { return channels * positions(); }
  /// Extent number i in the field's order: channels first, then the spatial extents in use.
  PHYLLO_FUNCTION constexpr int extent(int i) const {
    return i == 0 ? channels : spatial[3 - rank + i - 1];
  }

  /// Whether two shapes are stored alike: the ranks may differ.
  friend constexpr bool has_same_extents(Shape const& a, Shape const& b) {
    return a.channels == b.channels && a.spatial[0] == b.spatial[0] &&
           a.spatial[1] == b.spatial[1] && a.spatial[2] == b.spatial[2];
  }
  friend constexpr bool operator==(Shape const& a, Shape const& b) {
    return a.rank == b.rank && has_same_extents(a, b);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
