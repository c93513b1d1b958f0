// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/normalization.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels at a time, whose factors and sums stay in the first-level cache: neighbours in memory,
/// because a row of 1024 channels in float is a page.
inline constexpr int channels_at_a_time = 256;

/// Numbers of short rows that are taken as one.
inline constexpr int channels_together = 64;

/// The rows of a batch normalisation in blocks, by their number only: of so many rows that the sums
/// of a block are far fewer numbers than it has.
struct RowBlocks {
  static constexpr int fewest_rows = 32;
  long rows = 0;
  int count = 1;

  template <class Work>
  explicit RowBlocks(Work const& work) : rows(long(work.batch) * work.positions) {
    constexpr int most = op::Normalization<op::Chain<>>::row_blocks;
    long const blocks = rows / fewest_rows;
    count = blocks < 1 ? 1 : blocks < most ? int(blocks) : most;
  }
  long begin(int b) const { return rows * b / count; }
};

/// Work items: a block of rows, of some channels. Several rows of few channels are taken as one,
/// which keeps vectors full; where masks are random each element needs its own place. Derived: void
/// compute(begin, end, first, count, block).
template <class Derived, class Chain, class Work> struct NormalizationRows {
  Work work;

  static int channel_blocks(Work const& work) {
    return int(portable::blocks_of(work.channels, channels_at_a_time));
  }
  static int items(Work const& work) { return RowBlocks(work).count * channel_blocks(work); }

  void operator()(int item) const {
    auto const& derived = static_cast<Derived const&>(*this);
    RowBlocks const blocks(work);
    int const across = channel_blocks(work), b = item / across;
    int const first = item % across * channels_at_a_time, left = work.channels - first;
    derived.compute(blocks.begin(b), blocks.begin(b + 1), first,
                    left < channels_at_a_time ? left : channels_at_a_time, b);
  }

 protected:
  int rows_together() const {
    return Chain::random || 2 * work.channels > channels_together
               ? 1
               : channels_together / int(work.channels);
  }
  /// run(r, at, numbers): as many numbers from `at` on, `count` channels of row r and of those
  /// that are taken with it.
  template <class Run>
  PHYLLO_INLINE_ON_HOST void each_row(long begin, long end, int first, int count,
                                      Run const& run) const {
    int const rows = rows_together();
    for (long r = begin; r < end; r += rows)
      run(r, r * work.channels + first, int(end - r < rows ? end - r : rows) * count);
  }
  /// set(c, channel) for each number of as many rows.
  template <class Set> void each_channel(int first, int count, Set const& set) const {
    for (int c = 0; c < count * rows_together(); ++c) set(c, first + c % count);
  }
  /// Sums over the rows that are taken together, from one to the next.
  template <class A> void add_rows(A* sum, int count) const {
    for (int c = count; c < count * rows_together(); ++c) sum[c % count] += sum[c];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
