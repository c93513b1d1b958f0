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
/// (taps,
///          channels), or the transpose of that where not ByRows
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

  /// Columns [column, column + count) of one position after the other.
  class Lines {
   public:
    Lines(TapOperand const& from, long position, long column, int count)
        : from_(from),
          cursor_(from.grid, position),
          count_(count),
          first_tap_(int(column / from.channels)),
          first_channel_(int(column % from.channels)) {}

    /// A line's numbers in `room`, which holds a vector more.
    PHYLLO_INLINE_ON_HOST T const* next(T* room) {
      copy_next(room);
      return room;
    }
    /// A line's numbers to memory with room for a vector more, where anything may be written.
    template <class To> PHYLLO_INLINE_ON_HOST void copy_next(To* to) {
      int tap = first_tap_, channel = first_channel_;
      for (int done = 0; done < count_; ++tap, channel = 0) {
        int const left = from_.channels - channel;
        int const count = count_ - done < left ? count_ - done : left;
        T const* const at = place(tap);
        if (at == nullptr)
          PackedLine::clear(count, to + done);
        else
          PackedLine::copy(at + channel, from_.end, count, to + done);
        done += count;
      }
      ++cursor_;
    }

   private:
    // The channels that a tap reads; nullptr: zeros.
    T const* place(int t) const {
      ConvolutionShape const& s = from_.shape;
      int const tap[3] = {t / s.size[2] / s.size[1], t / s.size[2] % s.size[1], t % s.size[2]};
      long at = cursor_.sample();
      for (int d = 0; d < 3; ++d) {
        int const here = s.read(d, cursor_.at(d) + tap[d] * from_.step[d]);
        if (here < 0) return nullptr;
        at = at * s.image.spatial[d] + here;
      }
      return from_.data + at * s.image.channels;
    }

    TapOperand const& from_;
    PositionGrid::Cursor cursor_;
    int count_;
    int first_tap_, first_channel_;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::host
