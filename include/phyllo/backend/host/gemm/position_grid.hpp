// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A regular grid of positions in every image of a batch; some may stand outside of the image.
struct PositionGrid {
  int extent[3] = {1, 1, 1};  // how many positions
  int first[3] = {0, 0, 0};   // where the first one stands
  int step[3] = {1, 1, 1};    // from one to the next
  int image[3] = {1, 1, 1};   // extents of the image

  long positions() const { return long(extent[0]) * extent[1] * extent[2]; }

  /// The positions from number `row` on, in the order (N, positions).
  class Cursor {
   public:
    Cursor(PositionGrid const& grid, long row) : grid_(grid) {
      long const positions = grid.positions();
      int place = int(row % positions);
      sample_ = row / positions;
      for (int d = 2; d >= 0; --d) {
        at_[d] = grid.first[d] + place % grid.extent[d] * grid.step[d];
        place /= grid.extent[d];
      }
      for (int d = 0; d < 3; ++d) end_[d] = grid.first[d] + grid.extent[d] * grid.step[d];
    }

    long sample() const { return sample_; }
    /// Coordinate in the image.
    int at(int d) const { return at_[d]; }
    /// Number of the position among those of all images; for positions inside.
    long place() const {
      return ((sample_ * grid_.image[0] + at_[0]) * grid_.image[1] + at_[1]) * grid_.image[2] +
             at_[2];
    }
    PHYLLO_INLINE_ON_HOST void operator++() {
      for (int d = 2; d >= 0; --d) {
        at_[d] += grid_.step[d];
        if (at_[d] != end_[d]) return;
        at_[d] = grid_.first[d];
      }
      ++sample_;
    }

   private:
    PositionGrid const& grid_;
    long sample_;
    int at_[3];
    int end_[3];
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host
