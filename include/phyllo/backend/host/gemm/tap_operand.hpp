// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/packed_line.hpp>
#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/core/convolution_shape.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// As WindowOperand, for taps that are not contiguous in memory: dilated ones, of a group of
/// channels, or beyond a border that is no zeros.
///
/// shape    image (N, S, all channels); it reads `channels` of them; rows (N, positions), columns
///          (taps, channels), or the transpose of that where not ByRows
/// cost     what packing reads: (channels) numbers side by side
template <class T, bool ByRows> struct TapOperand {
  using value = T;
  static constexpr bool by_rows = ByRows;

  T const* data = nullptr;  // from the first channel of the group on
  T const* end = nullptr;   // of the memory
  ConvolutionShape shape;   // `image` is what is read
  PositionGrid grid;        // where the first tap stands
  int channels = 0;
  int step[3] = {1, 1, 1};  // from tap to tap

  /// Numbers side by side where they are inside.
  long run_length() const { return channels; }
  /// Numbers from the beginning of a line to that of the next one.
  long line_distance() const { return long(grid.step[2]) * shape.image.channels; }

  /// Columns [column, column + count) of one position after the other.
  class Lines {
   public:
    Lines(TapOperand const& from, long position, long column, int count)
        : from_(from),
          cursor_(from.grid, position),
          count_(count),
          first_channel_(int(column % from.channels)),
          side_by_side_(from.step[2] == 1 && from.channels == from.shape.image.channels) {
      int const tap = int(column / from.channels);
      auto const& size = from.shape.size;
      first_[0] = tap / size[2] / size[1];
      first_[1] = tap / size[2] % size[1];
      first_[2] = tap % size[2];
    }

    /// A line's numbers where they stand in memory, or in `room`, which holds a vector more.
    PHYLLO_INLINE_ON_HOST T const* next(T* room) {
      if (first_channel_ + count_ <= from_.channels) {
        long const row = row_of(first_[0], first_[1]);
        int const at = row < 0 ? -1 : column_of(first_[2]);
        if (at >= 0) {
          ++cursor_;
          return from_.data + (row + at) * from_.shape.image.channels + first_channel_;
        }
      }
      copy_next(room);
      return room;
    }
    /// A line's numbers to memory with room for a vector more, where anything may be written.
    template <class To> PHYLLO_INLINE_ON_HOST void copy_next(To* to) {
      auto const& size = from_.shape.size;
      int depth = first_[0], height = first_[1], width = first_[2], channel = first_channel_;
      for (int done = 0; done < count_;) {
        long const row = row_of(depth, height);
        while (width < size[2] && done < count_) {
          int const at = row < 0 ? -1 : column_of(width);
          int const taps = at < 0 ? 1 : side_by_side(width);
          int const left = taps * from_.channels - channel;
          int const count = count_ - done < left ? count_ - done : left;
          if (at < 0)
            PackedLine::clear(count, to + done);
          else
            PackedLine::copy(from_.data + (row + at) * from_.shape.image.channels + channel,
                             from_.end, count, to + done);
          done += count;
          width += taps;
          channel = 0;
        }
        width = 0;
        if (++height == size[1]) height = 0, ++depth;
      }
      ++cursor_;
    }

   private:
    // The first position of the image's row that a row of taps reads; -1: zeros.
    long row_of(int depth, int height) const {
      ConvolutionShape const& s = from_.shape;
      int const d = s.read(0, cursor_.at(0) + depth * from_.step[0]);
      int const h = s.read(1, cursor_.at(1) + height * from_.step[1]);
      if (d < 0 || h < 0) return -1;
      auto const& extent = s.image.spatial;
      return ((cursor_.sample() * extent[0] + d) * long(extent[1]) + h) * extent[2];
    }
    // Where in that row a tap stands; -1: zeros.
    int column_of(int width) const {
      return from_.shape.read(2, cursor_.at(2) + width * from_.step[2]);
    }
    // How many taps from one that reads something stand side by side in memory.
    int side_by_side(int width) const {
      if (!side_by_side_) return 1;
      int const here = cursor_.at(2) + width, extent = from_.shape.image.spatial[2];
      if (here < 0 || here >= extent) return 1;  // beyond the border
      int const taps = from_.shape.size[2] - width;
      return taps < extent - here ? taps : extent - here;
    }

    TapOperand const& from_;
    PositionGrid::Cursor cursor_;
    int count_;
    int first_[3];  // tap
    int first_channel_;
    bool side_by_side_;  // neighbouring taps
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host
