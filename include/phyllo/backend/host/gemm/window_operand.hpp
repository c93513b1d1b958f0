// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/packed_line.hpp>
#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// What a convolution multiplies its weights by, as a matrix that is nowhere in memory: for each
/// position the channels under all taps of its window, zeros where a tap stands outside.
///
/// shape    image (N, S, C); rows (N, positions), columns (taps, C), or the transpose of that where
///          not ByRows
/// cost     what packing reads: (C) numbers side by side at the least; those of a row of taps stand
///          side by side, too, and are copied at once
template <class T, bool ByRows> struct WindowOperand {
  using value = T;
  static constexpr bool by_rows = ByRows;

  T const* data = nullptr;
  T const* end = nullptr;
  PositionGrid grid;  // where the first tap stands
  int taps[3] = {1, 1, 1};
  int channels = 0;

  WindowOperand(T const* from, int batch, int of_channels, PositionGrid const& over,
                int const (&of_taps)[3])
      : data(from), grid(over), channels(of_channels) {
    for (int d = 0; d < 3; ++d) taps[d] = of_taps[d];
    end = from + long(batch) * grid.image[0] * grid.image[1] * grid.image[2] * channels;
  }

  /// Numbers side by side where all of them are inside: those of a row of taps.
  long run_length() const { return long(taps[2]) * channels; }
  /// Numbers from the beginning of a line to that of the next one.
  long line_distance() const { return long(grid.step[2]) * channels; }

  /// Columns [column, column + count) of one position after the other.
  class Lines {
   public:
    Lines(WindowOperand const& from, long position, long column, int count)
        : from_(from),
          cursor_(from.grid, position),
          run_(from.taps[2] * from.channels),
          row_(from.grid.image[2] * from.channels),
          count_(count) {
      int const at = int(column / run_);
      first_ = int(column % run_);
      height_ = at % from.taps[1];
      depth_ = at / from.taps[1];
    }

    /// A line's numbers where they stand in memory, or in `room`, which holds a vector more.
    PHYLLO_INLINE_ON_HOST T const* next(T* room) {
      int const depth = cursor_.at(0) + depth_, height = cursor_.at(1) + height_;
      int const left = cursor_.at(2) * from_.channels + first_;
      if (first_ + count_ <= run_ && left >= 0 && left + count_ <= row_ &&
          is_inside(depth, height)) {
        T const* const at = row(depth, height) + left;
        ++cursor_;
        return at;
      }
      copy_next(room);
      return room;
    }
    /// A line's numbers to memory with room for a vector more, where anything may be written.
    template <class To> PHYLLO_INLINE_ON_HOST void copy_next(To* to) {
      int depth = cursor_.at(0) + depth_, height = cursor_.at(1) + height_, first = first_;
      int const after = cursor_.at(1) + from_.taps[1];
      for (int done = 0; done < count_;) {
        int const count = count_ - done < run_ - first ? count_ - done : run_ - first;
        copy_run(depth, height, first, count, to + done);
        done += count;
        first = 0;
        if (++height == after) height = cursor_.at(1), ++depth;
      }
      ++cursor_;
    }

   private:
    // Numbers [first, first + count) of a row of taps.
    template <class To>
    PHYLLO_INLINE_ON_HOST void copy_run(int depth, int height, int first, int count, To* to) const {
      if (!is_inside(depth, height)) return PackedLine::clear(count, to);
      int const left = cursor_.at(2) * from_.channels + first;  // in the image's row
      T const* const row = this->row(depth, height);
      if (left >= 0 && left + count <= row_)
        return PackedLine::copy(row + left, from_.end, count, to);
      int const before = left >= 0 ? 0 : -left < count ? -left : count;
      int const inside = row_ - left < count ? row_ - left : count;  // where numbers end
      PackedLine::clear(before, to);
      if (inside > before)
        PackedLine::copy(row + (left + before), from_.end, inside - before, to + before);
      int const begin = inside > before ? inside : before;
      PackedLine::clear(count - begin, to + begin);
    }

    bool is_inside(int depth, int height) const {
      return unsigned(depth) < unsigned(from_.grid.image[0]) &&
             unsigned(height) < unsigned(from_.grid.image[1]);
    }
    T const* row(int depth, int height) const {
      auto const& image = from_.grid.image;
      return from_.data + ((cursor_.sample() * image[0] + depth) * image[1] + height) * long(row_);
    }

    WindowOperand const& from_;
    PositionGrid::Cursor cursor_;
    int run_;  // numbers of a row of taps
    int row_;  // of the image
    int count_;
    int first_, height_, depth_;  // of the first column: number in its row of taps, and which row
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host
