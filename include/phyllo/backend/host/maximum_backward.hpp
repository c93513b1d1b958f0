// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/first_maxima.hpp>
#include <phyllo/op/pooling.hpp>

#include <algorithm>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// The gradient of maxima over windows. One work item: a tile of rows and columns of one plane of a
/// sample. Each window that covers the tile is searched once, while one work item for each input
/// number would search it for each of its taps.
///
/// numerics numbers of 16 bits are added up in the type of sums, in a cache, and rounded once
template <class P> struct maximum_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Channels = ChannelVectors<A>;
  using Work = typename op::Pooling<op::PoolingKind::maximum>::template Backward<P>;
  // 32 KiB of sums, half of a first-level cache at least.
  static constexpr int most_sums = 32768 / (pooled_channels * int(sizeof(A)));
  // A quarter of a second-level cache.
  static constexpr int tile_bytes = 131072;

  Work work;
  bool overlap = false;  // windows
  bool covered = true;   // every position is in a window
  bool buffered;         // sums in a cache of their own
  int channels;          // of a work item
  int rows, columns;     // of a tile
  int down, across;      // tiles
  int groups;            // of channels

  explicit maximum_backward(Work const& w) : work(w) {
    Window const& window = w.window;
    for (int d = 0; d < 3; ++d) {
      overlap = overlap || window.stride[d] < window.size[d];
      covered = covered && window.stride[d] <= window.size[d] &&
                (w.output.spatial[d] - 1) * window.stride[d] + window.size[d] >=
                    w.input.spatial[d] + window.padding[d];
    }
    buffered = overlap && !std::is_same_v<A, S>;
    channels = buffered ? pooled_channels : w.input.channels;
    int const most = buffered ? most_sums : tile_bytes / (channels * int(sizeof(S)));
    // Tiles begin where windows do: none is then searched twice where windows do not overlap.
    int const height = w.input.spatial[1] + window.padding[1];
    int const width = w.input.spatial[2] + window.padding[2];
    columns = whole_strides(width, most, window.stride[2]);
    rows = whole_strides(height, most / columns, window.stride[1]);
    down = (height + rows - 1) / rows;
    across = (width + columns - 1) / columns;
    groups = (w.input.channels + channels - 1) / channels;
  }
  long items() const { return long(work.batch) * work.input.spatial[0] * down * across * groups; }

  void operator()(long item) const {
    int const first = int(item % groups) * channels;
    long rest = item / groups;
    int const x = int(rest % across);
    rest /= across;
    int const y = int(rest % down);
    rest /= down;
    int const depth = int(rest % work.input.spatial[0]);
    Range const tile[] = {{depth, depth + 1}, part_of(1, y, rows), part_of(2, x, columns)};
    if (tile[1].begin >= tile[1].end || tile[2].begin >= tile[2].end) return;  // padding only
    Range const part = {first, std::min(first + channels, work.input.channels)};
    if (buffered)
      add_up(rest / work.input.spatial[0], tile, part);
    else
      place(rest / work.input.spatial[0], tile);
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

  // Gradients of all channels where they belong.
  void place(long n, Range const (&tile)[3]) const {
    S* const d_x = work.d_x + n * work.input.size();
    bool const adds = work.accumulate || overlap;
    if (!work.accumulate && (overlap || !covered))
      for (int h = tile[1].begin; h < tile[1].end; ++h) {
        S* const row =
            d_x + position_of(work.input, tile[0].begin, h, tile[2].begin) * work.input.channels;
        std::fill_n(row, (tile[2].end - tile[2].begin) * work.input.channels, S(A(0)));
      }
    each_gradient(n, tile, {0, work.input.channels},
                  [&]<int Count>(long at, int, int c, int some, Channels gradient) {
                    S* const to = d_x + at + c;
                    if (adds) gradient.add(Channels::template load<Count>(to, some));
                    gradient.template store<Count>(to, some);
                  });
  }

  // The same of at most sixteen channels by way of sums.
  void add_up(long n, Range const (&tile)[3], Range const& part) const {
    A sum[most_sums * pooled_channels];
    int const wide = tile[2].end - tile[2].begin;
    std::fill_n(sum, (tile[1].end - tile[1].begin) * wide * pooled_channels, A(0));
    each_gradient(n, tile, part, [&]<int Count>(long, int local, int, int, Channels gradient) {
      A* const to = sum + local * pooled_channels;
      gradient.add(Channels::template load<pooled_channels>(to, 0));
      gradient.template store<pooled_channels>(to, 0);
    });
    int const count = part.end - part.begin;
    A* from = sum;
    for (int h = tile[1].begin; h < tile[1].end; ++h)
      for (int w = tile[2].begin; w < tile[2].end; ++w, from += pooled_channels) {
        S* const to = work.d_x + n * work.input.size() + part.begin +
                      position_of(work.input, tile[0].begin, h, w) * work.input.channels;
        if (work.accumulate) add_numbers(to, count, from);
        store_numbers(from, count, to);
      }
  }

  // visit<Count>(first number of the position, the position in the tile, channel, number of
  // channels, what they receive there) for every tap in the tile of every window.
  template <class Visit>
  PHYLLO_INLINE_ON_HOST void each_gradient(long n, Range const (&tile)[3], Range const& part,
                                           Visit const& visit) const {
    Range over[3];
    for (int d = 0; d < 3; ++d) over[d] = windows_over(work.window, work.output, d, tile[d]);
    S const* const x = work.x + n * work.input.size();
    S const* const d_y = work.d_y + n * work.output.size();
    for (int qd = over[0].begin; qd < over[0].end; ++qd)
      for (int qh = over[1].begin; qh < over[1].end; ++qh)
        for (int qw = over[2].begin; qw < over[2].end; ++qw) {
          S const* const gradient =
              d_y + position_of(work.output, qd, qh, qw) * work.input.channels;
          Range const window[] = {places_of(work.window, work.input, 0, qd),
                                  places_of(work.window, work.input, 1, qh),
                                  places_of(work.window, work.input, 2, qw)};
          each_channel_block(part.begin, part.end, [&]<int Count>(int c, int some) {
            search<Count>(x + c, gradient + c, window, tile, c, some, visit);
          });
        }
  }
  template <int Count, class Visit>
  PHYLLO_INLINE_ON_HOST void search(S const* x, S const* d_y, Range const (&window)[3],
                                    Range const (&tile)[3], int c, int some,
                                    Visit const& visit) const {
    auto const gradient = Channels::template load<Count>(d_y, some);
    FirstMaxima<A> maxima;
    maxima.template find<Count>(x, work.input, window, some);
    for (int d = window[0].begin; d < window[0].end; ++d)
      for (int h = window[1].begin; h < window[1].end; ++h) {
        bool const row_is_here = d == tile[0].begin && tile[1].has(h);
        long const begin = position_of(work.input, d, h, window[2].begin);
        S const* from = x + begin * work.input.channels;
        long to = begin * work.input.channels;
        int local = (h - tile[1].begin) * (tile[2].end - tile[2].begin) - tile[2].begin;
        for (int w = window[2].begin; w < window[2].end; ++w) {
          auto const here = maxima.take(Channels::template load<Count>(from, some), gradient);
          if (row_is_here && tile[2].has(w))
            visit.template operator()<Count>(to, local + w, c, some, here);
          from += work.input.channels;
          to += work.input.channels;
        }
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
