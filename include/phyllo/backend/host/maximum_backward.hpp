// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/first_maxima.hpp>
#include <phyllo/op/pooling.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA::host {

/// The gradient of maxima over windows. One work item: a tile of rows and columns of one plane of a
/// sample, 16 channels of it; its sums are in the first-level cache. Each window that covers the
/// tile is searched once, while one work item for each input number would search it for each of its
/// taps.
template <class P> struct maximum_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Work = typename op::Pooling<op::PoolingKind::maximum>::template Backward<P>;
  // 32 KiB of sums, half of a first-level cache at least.
  static constexpr int most_positions = 32768 / (pooled_channels * int(sizeof(A)));
  // Of a larger window, a number at a time is added where its maximum is.
  static constexpr int most_taps = 16;

  Work work;
  int rows = 1;     // of a tile
  int columns = 1;  // of a tile
  int down = 1;     // tiles
  int across = 1;   // tiles
  int blocks = 1;   // of channels

  explicit maximum_backward(Work const& w) : work(w) {
    // Tiles begin where windows do: none is then searched twice where windows do not overlap.
    Window const& window = w.window;
    int const height = w.input.spatial[1] + window.padding[1];
    int const width = w.input.spatial[2] + window.padding[2];
    columns = whole_strides(width, most_positions, window.stride[2]);
    rows = whole_strides(height, most_positions / columns, window.stride[1]);
    down = (height + rows - 1) / rows;
    across = (width + columns - 1) / columns;
    blocks = (w.input.channels + pooled_channels - 1) / pooled_channels;
  }
  long items() const { return long(work.batch) * work.input.spatial[0] * down * across * blocks; }

  void operator()(long item) const {
    int const first = int(item % blocks) * pooled_channels;
    long rest = item / blocks;
    int const x = int(rest % across);
    rest /= across;
    int const y = int(rest % down);
    rest /= down;
    int const depth = int(rest % work.input.spatial[0]);
    Range const tile[] = {{depth, depth + 1}, part_of(1, y, rows), part_of(2, x, columns)};
    int const left = work.input.channels - first;
    if (left >= pooled_channels)
      compute<pooled_channels>(rest / work.input.spatial[0], tile, first, pooled_channels);
    else
      compute<0>(rest / work.input.spatial[0], tile, first, left);
  }

 private:
  // At most `most`, and at least one; a multiple of the stride where that is not more.
  static int whole_strides(int extent, int most, int stride) {
    if (extent <= most) return extent;
    return most >= stride ? most / stride * stride : most < 1 ? 1 : most;
  }
  Range part_of(int d, int tile, int size) const {
    int const begin = tile * size - work.window.padding[d], end = begin + size;
    return {begin > 0 ? begin : 0, end < work.input.spatial[d] ? end : work.input.spatial[d]};
  }

  template <int Count> void compute(long n, Range const (&tile)[3], int first, int some) const {
    if (tile[1].begin >= tile[1].end || tile[2].begin >= tile[2].end) return;  // padding only
    int const count = Count > 0 ? Count : some, channels = work.input.channels;
    int const wide = tile[2].end - tile[2].begin;
    A sum[most_positions * pooled_channels];
    int const numbers = (tile[1].end - tile[1].begin) * wide * pooled_channels;
    for (int i = 0; i < numbers; ++i) sum[i] = 0;
    Range over[3];
    for (int d = 0; d < 3; ++d) over[d] = windows_over(work.window, work.output, d, tile[d]);
    S const* const x = work.x + n * work.input.size() + first;
    S const* const d_y = work.d_y + n * work.output.size() + first;
    for (int qd = over[0].begin; qd < over[0].end; ++qd)
      for (int qh = over[1].begin; qh < over[1].end; ++qh)
        for (int qw = over[2].begin; qw < over[2].end; ++qw) {
          Range const window[] = {places_of(work.window, work.input, 0, qd),
                                  places_of(work.window, work.input, 1, qh),
                                  places_of(work.window, work.input, 2, qw)};
          long const q = (long(qd) * work.output.spatial[1] + qh) * work.output.spatial[2] + qw;
          add_window<Count>(x, d_y + q * channels, window, tile, some, sum);
        }
    S* const d_x = work.d_x + n * work.input.size() + first;
    for (int h = tile[1].begin; h < tile[1].end; ++h)
      for (int w = tile[2].begin; w < tile[2].end; ++w) {
        S* const to = d_x + position(tile[0].begin, h, w) * channels;
        A* const from = sum + ((h - tile[1].begin) * wide + w - tile[2].begin) * pooled_channels;
        if (work.accumulate) add_numbers(to, count, from);
        store_numbers(from, count, to);
      }
  }

  // Adds d_y of a window to the sums of its first maxima that are in the tile.
  template <int Count>
  PHYLLO_INLINE_ON_HOST void add_window(S const* x, S const* d_y, Range const (&window)[3],
                                        Range const (&tile)[3], int some, A* sum) const {
    int const count = Count > 0 ? Count : some;
    FirstMaxima<A> maxima;
    maxima.template find<Count>(x, work.input, window, some);
    int const wide = tile[2].end - tile[2].begin;
    if (work.window.taps() > most_taps) {
      int const plane = work.input.spatial[1] * work.input.spatial[2];
      for (int c = 0; c < count; ++c) {
        int const p = int(maxima.at[c]), h = p % plane / work.input.spatial[2];
        int const w = p % work.input.spatial[2];
        if (p / plane == tile[0].begin && h >= tile[1].begin && h < tile[1].end &&
            w >= tile[2].begin && w < tile[2].end)
          sum[((h - tile[1].begin) * wide + w - tile[2].begin) * pooled_channels + c] +=
              number<A>(d_y, c);
      }
      return;
    }
    A gradient[pooled_channels];
    PHYLLO_SIMD(16)
    for (int c = 0; c < count; ++c) gradient[c] = number<A>(d_y, c);
    for (int h = std::max(window[1].begin, tile[1].begin); h < std::min(window[1].end, tile[1].end);
         ++h)
      for (int w = std::max(window[2].begin, tile[2].begin);
           w < std::min(window[2].end, tile[2].end); ++w) {
        auto const p = typename FirstMaxima<A>::Position(position(tile[0].begin, h, w));
        A* const to = sum + ((h - tile[1].begin) * wide + w - tile[2].begin) * pooled_channels;
        PHYLLO_SIMD(16)
        for (int c = 0; c < count; ++c) to[c] += maxima.at[c] == p ? gradient[c] : A(0);
      }
  }
  long position(int d, int h, int w) const {
    return (long(d) * work.input.spatial[1] + h) * work.input.spatial[2] + w;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
