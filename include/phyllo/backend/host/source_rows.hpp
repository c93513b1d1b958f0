// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/column_classes.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Bytes of copied rows and of weights that stay in the second-level cache.
inline constexpr long cached_rows = InstructionSet::bytes == 64 ? 1 << 20 : 384 << 10;

/// The rows of a source that a row of results reads, in a thread's memory: with the columns beyond
/// the borders, in the type of sums, in whole vectors of channels. A row is copied once while rows
/// of results follow each other.
///
/// shape    (slots, columns, pitch)
template <bool ToImage, class S, class A> class SourceRows {
 public:
  static constexpr int most_slots = 64;

  ColumnClasses<ToImage> const& columns;
  int slots = 0;
  long pitch = 0;  // numbers from column to column
  A* memory = nullptr;

  SourceRows(ColumnClasses<ToImage> const& of, int of_slots, int channels, A* room)
      : columns(of), slots(of_slots), pitch(pitch_of(channels)), memory(room) {
    for (int i = 0; i < slots; ++i) row_[i] = -1, used_[i] = 0;
  }

  /// Neighbouring columns of a power of two of bytes share few sets of the first-level cache.
  static long pitch_of(int channels) {
    long const whole = (channels + lanes<A> - 1) / lanes<A> * lanes<A>;
    return whole * long(sizeof(A)) % 512 == 0 ? whole + 64 / long(sizeof(A)) : whole;
  }
  /// Rows that rows of results, one after the other, read again.
  static int slots_of(ChannelSource<ToImage> const& source) {
    int most = 1;
    for (int d = 0, span; d < 2; ++d, most *= span) {
      span = 1;
      for (int r = 0; r < source.to().spatial[d]; ++r) {
        int least = source.from().spatial[d], last = -1;
        for (int t = 0; t < source.shape.size[d]; ++t) {
          int const at = source.read(d, r, t);
          if (at < 0) continue;
          least = at < least ? at : least;
          last = at > last ? at : last;
        }
        span = last - least + 1 > span ? last - least + 1 : span;
      }
    }
    return most;
  }
  /// Rows that one row of results reads.
  static int fewest_slots(ChannelSource<ToImage> const& source) {
    return source.shape.size[0] * source.shape.size[1];
  }

  /// The rows that row `line` of the results reads, channels [first, first + count): how many
  /// there are; row[i]: where number i begins, and which row of taps reads it.
  template <class Row>
  int read(ChannelSource<ToImage> const& source, long line, S const* x, int first, int count,
           Row* row) {
    Shape const &to = source.to(), &from = source.from();
    int const h = int(line % to.spatial[1]), d = int(line / to.spatial[1] % to.spatial[0]);
    long const n = line / to.spatial[1] / to.spatial[0];
    int const* const size = source.shape.size;
    long number[most_slots];
    int used = 0;
    ++now_;
    for (int td = 0; td < size[0]; ++td)
      for (int th = 0; th < size[1]; ++th) {
        int const plane = source.read(0, d, td), at = source.read(1, h, th);
        if (plane < 0 || at < 0) continue;
        number[used] = (n * from.spatial[0] + plane) * from.spatial[1] + at;
        row[used].number = td * size[1] + th;
        for (int i = 0; i < slots; ++i)
          if (row_[i] == number[used]) used_[i] = now_;
        ++used;
      }
    for (int r = 0; r < used; ++r)
      row[r].numbers = at(number[r], x + number[r] * from.spatial[2] * from.channels + first,
                          from.channels, count);
    return used;
  }
  /// The numbers of a position, then zeros.
  static void copy_line(S const* from, int count, A* to, long pitch) {
    int i = 0;
    if constexpr (std::is_same_v<S, A> || (sizeof(S) == 2 && std::is_same_v<A, float>))
      for (; i + lanes<A> <= count; i += lanes<A>)
        InstructionSet::store(to + i, InstructionSet::load(from + i));
    for (; i < count; ++i) to[i] = number<A>(from, i);
    for (; i < pitch; ++i) to[i] = A(0);
  }

 private:
  // A row of the source; if it is not here, in the place of the one that was read longest ago.
  A* at(long row, S const* from, int channels, int count) {
    int oldest = 0;
    for (int i = 0; i < slots; ++i) {
      if (row_[i] == row) return memory + i * columns.width() * pitch;
      oldest = used_[i] < used_[oldest] ? i : oldest;
    }
    row_[oldest] = row;
    used_[oldest] = now_;
    A* const to = memory + oldest * columns.width() * pitch;
    for (int c = 0; c < columns.width(); ++c) {
      int const at = columns.source_of(c);
      S const* const numbers = at < 0 ? from : from + long(at) * channels;
      copy_line(numbers, at < 0 ? 0 : count, to + c * pitch, pitch);
    }
    return to;
  }

  long row_[most_slots];
  long used_[most_slots];
  long now_ = 1;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
