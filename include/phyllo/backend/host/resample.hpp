// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/resample.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA::host {

/// Numbers of a row that are kept in the first-level cache: 16 KiB of floats.
inline constexpr int resample_line = 4096;
/// Results along the width whose taps are found at once.
inline constexpr int resample_entries = 256;

/// Channels that are taken together: so many that a line holds 16 positions.
inline int resample_channels(int channels) { return channels < 256 ? channels : 256; }

/// sums (+)= weight times numbers of a row.
template <class A, class S>
PHYLLO_INLINE_ON_HOST void add_weighted(S const* from, int count, A weight, bool first, A* sums) {
  if (first) {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) sums[i] = weight * number<A>(from, i);
  } else {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) sums[i] += weight * number<A>(from, i);
  }
}
/// sums = a sum of two rows.
template <class A, class S>
PHYLLO_INLINE_ON_HOST void weigh_two(S const* one, A of_one, S const* two, A of_two, int count,
                                     A* sums) {
  PHYLLO_SIMD(16)
  for (int i = 0; i < count; ++i) sums[i] = of_one * number<A>(one, i) + of_two * number<A>(two, i);
}

/// Sums of rows of one image: all positions [begin, end) of the width, `count` channels of each.
template <class A, class S, int Most> struct ResampleRows {
  S const* row[Most];
  A weight[Most];
  int rows = 0;

  void sum(int begin, int end, int channels, int first, int count, A* line) const {
    bool const whole = count == channels;  // positions are one after the other
    int const runs = whole ? 1 : end - begin, numbers = whole ? (end - begin) * count : count;
    for (int p = 0; p < runs; ++p) {
      long const at = long(begin + p) * channels + first;
      A* const to = line + long(p) * numbers;
      int r = 0;
      if constexpr (Most > 1)
        if (rows % 2 == 0 && rows > 0) {
          weigh_two(row[0] + at, weight[0], row[1] + at, weight[1], numbers, to);
          r = 2;
        }
      for (; r < rows; ++r) add_weighted(row[r] + at, numbers, weight[r], r == 0, to);
    }
  }
};

/// The taps and weights of neighbouring results along the width: of points, or where a point has
/// few channels, of their numbers, which then fill vectors.
template <class A, int Taps> struct ResampleTable {
  int begin = 0, end = 0;  // positions of the input that are read
  int points = 0;          // results
  int of_each = 1;         // entries of a result: one, or one for each channel
  int tap[Taps][resample_entries];
  A weight[Taps][resample_entries];

  ResampleTable(ResampleAxis const& width, int first, int count, int entries)
      : begin(width.clamped(width.point<A>(first).first)), end(begin), of_each(entries) {
    for (; (points + 1) * of_each <= resample_entries && first + points < width.extent; ++points) {
      ResamplePoint<A> const p = width.point<A>(first + points);
      int const last = width.clamped(p.first + Taps - 1) + 1;
      if ((last - begin) * count > resample_line) break;
      end = last;
      for (int k = 0; k < Taps; ++k)
        for (int e = 0; e < of_each; ++e) {
          tap[k][points * of_each + e] = (width.clamped(p.first + k) - begin) * count + e;
          weight[k][points * of_each + e] = width.weight(k, p.fraction);
        }
    }
  }
};

/// One work item: some rows of the result. The rows of the input are summed first, then the numbers
/// of the sum along the width.
template <class P> struct resample_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int rows_together = 8;  // that share a table
  op::Resample::Forward<P> work;

  static int items_of(ResampleAxis const& height) {
    return (height.extent + rows_together - 1) / rows_together;
  }
  void operator()(long item) const {
    int const taps = work.axes.axis[2].taps;
    if (taps == 1)
      along<1>(item);
    else if (taps == 2)
      along<2>(item);
    else
      along<4>(item);
  }

 private:
  // The rows of the input that row h of an image is a sum of.
  ResampleRows<A, S, 16> rows_of(long image, int row) const {
    ResampleAxis const &D = work.axes.axis[0], &H = work.axes.axis[1], &W = work.axes.axis[2];
    ResamplePoint<A> const d = D.template point<A>(int(image % D.extent));
    ResamplePoint<A> const h = H.template point<A>(row);
    S const* const x = work.x + image / D.extent * work.axes.source_positions() * work.channels;
    ResampleRows<A, S, 16> rows;
    for (int i = 0; i < D.taps; ++i)
      for (int j = 0; j < H.taps; ++j) {
        long const line = long(D.clamped(d.first + i)) * H.source_extent + H.clamped(h.first + j);
        rows.row[rows.rows] = x + line * W.source_extent * work.channels;
        rows.weight[rows.rows++] = D.weight(i, d.fraction) * H.weight(j, h.fraction);
      }
    return rows;
  }
  template <int Taps> void along(long item) const {
    ResampleAxis const &H = work.axes.axis[1], &W = work.axes.axis[2];
    int const channels = work.channels, together = resample_channels(channels);
    int const items = items_of(H), begin = int(item % items) * rows_together;
    int const end = begin + rows_together < H.extent ? begin + rows_together : H.extent;
    long const image = item / items;
    bool const by_numbers = channels < 8;
    alignas(64) A line[resample_line];
    for (int c = 0; c < channels; c += together) {
      int const count = channels - c < together ? channels - c : together;
      for (int q = 0; q < W.extent;) {
        ResampleTable<A, Taps> const table(W, q, count, by_numbers ? count : 1);
        for (int h = begin; h < end; ++h) {
          rows_of(image, h).sum(table.begin, table.end, channels, c, count, line);
          S* const y = work.y + ((image * H.extent + h) * W.extent + q) * channels + c;
          if (by_numbers)
            numbers_of(line, table, y);
          else
            points_of(line, table, channels, count, y);
        }
        q += table.points;
      }
    }
  }
  template <int Taps>
  static void numbers_of(A const* line, ResampleTable<A, Taps> const& table, S* y) {
    PHYLLO_SIMD(16)
    for (int i = 0; i < table.points * table.of_each; ++i) {
      A sum = table.weight[0][i] * line[table.tap[0][i]];
      for (int k = 1; k < Taps; ++k) sum += table.weight[k][i] * line[table.tap[k][i]];
      store_number(sum, y, i);
    }
  }
  template <int Taps>
  static void points_of(A const* line, ResampleTable<A, Taps> const& table, int channels, int count,
                        S* y) {
    for (int q = 0; q < table.points; ++q, y += channels) {
      A const* from[Taps];
      A weight[Taps];
      for (int k = 0; k < Taps; ++k) {
        from[k] = line + table.tap[k][q];
        weight[k] = table.weight[k][q];
      }
      PHYLLO_SIMD(16)
      for (int c = 0; c < count; ++c) {
        A sum = weight[0] * from[0][c];
        for (int k = 1; k < Taps; ++k) sum += weight[k] * from[k][c];
        store_number(sum, y, c);
      }
    }
  }
};

/// One work item: one row of the input. The rows of gradients that it is part of are summed first;
/// then every number of the sum goes to its taps.
template <class P> struct resample_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Resample::Backward<P> work;
  int together;  // channels

  /// As many channels as leave room for the results of every position; 0: too many results.
  static int channels_together(ResampleAxis const& width, int channels) {
    int most = 1;
    for (int p = 0; p < width.source_extent; ++p) {
      int const readers = width.last_reader(p) - width.first_reader(p);
      most = readers > most ? readers : most;
    }
    int const room = resample_line / most, wanted = resample_channels(channels);
    return room < wanted ? room : wanted;
  }

  void operator()(long row) const {
    ResampleAxis const &D = work.axes.axis[0], &H = work.axes.axis[1], &W = work.axes.axis[2];
    int const channels = work.channels;
    int const ph = int(row % H.source_extent);
    long const image = row / H.source_extent, n = image / D.source_extent;
    int const pd = int(image % D.source_extent);
    S const* const d_y = work.d_y + n * work.axes.positions() * channels;
    S* const d_x = work.d_x + row * W.source_extent * channels;
    alignas(64) A line[resample_line], part[resample_line], sum[resample_line];
    for (int c = 0; c < channels; c += together) {
      int const count = channels - c < together ? channels - c : together;
      for (int p = 0; p < W.source_extent;) {
        int const begin = W.first_reader(p);
        int last = p, end = begin;
        for (; last < W.source_extent && (last - p + 1) * count <= resample_line; ++last) {
          int const next = W.last_reader(last);
          if ((next - begin) * count > resample_line) break;
          end = next;
        }
        bool first = true;
        for (int d = D.first_reader(pd); d < D.last_reader(pd); ++d)
          for (int h = H.first_reader(ph); h < H.last_reader(ph); ++h) {
            A const weight = D.template weight_of<A>(pd, d) * H.template weight_of<A>(ph, h);
            ResampleRows<A, S, 1> const rows{
                {d_y + (long(d) * H.extent + h) * W.extent * channels}, {weight}, 1};
            rows.sum(begin, end, channels, c, count, first ? line : part);
            if (!first) add_numbers(part, (end - begin) * count, line);
            first = false;
          }
        if (first) std::fill_n(line, (end - begin) * count, A(0));  // no result reads this row
        scatter(line, begin, end, p, last, count, sum);
        store(sum, p, last, c, count, d_x);
        p = last;
      }
    }
  }

 private:
  // Results [begin, end) to positions [first, last).
  void scatter(A const* line, int begin, int end, int first, int last, int count, A* sum) const {
    ResampleAxis const& W = work.axes.axis[2];
    for (int i = 0; i < (last - first) * count; ++i) sum[i] = A(0);
    for (int q = begin; q < end; ++q) {
      ResamplePoint<A> const at = W.template point<A>(q);
      for (int k = 0; k < W.taps; ++k) {
        int const p = W.clamped(at.first + k);
        if (p < first || p >= last) continue;
        add_weighted(line + (q - begin) * count, count, W.weight(k, at.fraction), false,
                     sum + (p - first) * count);
      }
    }
  }
  void store(A* sum, int first, int last, int c, int count, S* d_x) const {
    bool const whole = count == work.channels;
    int const runs = whole ? 1 : last - first, numbers = whole ? (last - first) * count : count;
    for (int p = 0; p < runs; ++p) {
      S* const to = d_x + long(first + p) * work.channels + c;
      if (work.accumulate) add_numbers(to, numbers, sum + p * numbers);
      store_numbers(sum + p * numbers, numbers, to);
    }
  }
};

/// Interpolation by rows: vectors over all numbers of a row, then over channels.
template <class P> struct Kernels<op::Resample, P> : portable::Kernels<op::Resample, P> {
  using Portable = portable::Kernels<op::Resample, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Resample::Forward<P> const& work) {
    using Functor = resample_forward<P>;
    portable::launch(
        exec, label,
        long(work.batch) * work.axes.axis[0].extent * Functor::items_of(work.axes.axis[1]),
        Functor{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Resample::Backward<P> const& work) {
    using Functor = resample_backward<P>;
    int const together = Functor::channels_together(work.axes.axis[2], work.channels);
    if (together == 0) return Portable::run(exec, label, work);
    portable::launch(
        exec, label,
        long(work.batch) * work.axes.axis[0].source_extent * work.axes.axis[1].source_extent,
        Functor{work, together});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
