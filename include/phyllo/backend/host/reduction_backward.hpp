// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_units.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/reduction.hpp>

#include <algorithm>
#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a window that are reduced at a time, each by itself.
inline constexpr int reduced_channels = 64;
/// Gradients of fewer channels are computed for several positions at once: a loop of one position
/// would be shorter than a vector.
inline constexpr int few_reduced_channels = 16;

/// One piece: some lines of the input along the width, all channels of a position at a time; of few
/// channels, several positions that the same windows contain.
template <op::ReductionKind Kind, class P> struct reduction_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Reduction<Kind>::template Backward<P> work;
  int pieces;
  A uniform_share;  // of a number in its mean; zero: windows differ

  long lines() const {
    Shape const& in = work.windows.input;
    return long(work.batch) * in.spatial[0] * in.spatial[1];
  }
  void operator()(int piece) const {
    Shape const &in = work.windows.input, &out = work.windows.output;
    int const planes = in.spatial[0] * in.spatial[1], channels = in.channels;
    bool const joined = work.windows.joins_channels();
    int const together = out.spatial[2] == 1 ? positions_together(channels) : 1;
    for (long l = lines() * piece / pieces; l < lines() * (piece + 1) / pieces; ++l) {
      long const n = l / planes, begin = l * in.spatial[2];
      if (joined && in.positions() == out.positions()) {
        for (long row = begin; row < begin + in.spatial[2]; ++row) spread(row);
        continue;
      }
      op::ReductionBox over = work.windows.outputs_over(int(l % planes) * in.spatial[2]);
      for (int w = 0; w < in.spatial[2];) {
        over.first[2] = op::ReductionWindows::begin(w, 2, in, out);
        over.last[2] = op::ReductionWindows::end(w, 2, in, out);
        bool const is_one = !joined && over.count() == 1;
        int const most = is_one ? in.spatial[2] - w : together;
        int const positions = same_windows(over, w, most);
        if (is_one && channels > few_reduced_channels)
          place(over, n, begin + w, positions);
        else
          for (int done = 0; done < positions; done += together)
            for (int c = 0; c < channels; c += reduced_channels)
              gather(over, n, (begin + w + done) * channels + c, c,
                     std::min(channels - c, reduced_channels),
                     std::min(positions - done, together));
        w += positions;
      }
    }
  }

 private:
  // Positions from w on, at most `most`, that the same windows contain.
  int same_windows(op::ReductionBox const& over, int w, int most) const {
    Shape const &in = work.windows.input, &out = work.windows.output;
    if (out.spatial[2] == 1) return std::min(most, in.spatial[2] - w);
    int count = 1;
    while (count < most && w + count < in.spatial[2] &&
           op::ReductionWindows::begin(w + count, 2, in, out) == over.first[2] &&
           op::ReductionWindows::end(w + count, 2, in, out) == over.last[2])
      ++count;
    return count;
  }
  void put(A const* sum, int numbers, S* d_x) const {
    if (work.accumulate) {
      A total[reduced_channels];
      for (int i = 0; i < numbers; ++i) total[i] = sum[i];
      add_numbers(d_x, numbers, total);
      store_numbers(total, numbers, d_x);
    } else {
      store_numbers(sum, numbers, d_x);
    }
  }

  // Gradients of some positions that one window contains, from row `begin` on.
  void place(op::ReductionBox const& over, long n, long begin, int positions) const {
    Shape const &in = work.windows.input, &out = work.windows.output;
    int const q = op::ReductionWindows::position(out, over.first[0], over.first[1], over.first[2]);
    for (int c = 0; c < in.channels; c += reduced_channels) {
      int const count = std::min(in.channels - c, reduced_channels);
      Source const source = from((n * out.positions() + q) * out.channels + c);
      A sum[reduced_channels] = {};
      if constexpr (!op::is_maximum(Kind)) add<false>(q, source, n, 0, count, sum);
      for (int p = 0; p < positions; ++p) {
        long const at = (begin + p) * in.channels + c;
        if constexpr (op::is_maximum(Kind)) {
          for (int i = 0; i < count; ++i) sum[i] = 0;
          add<false>(q, source, n, at, count, sum);
        }
        put(sum, count, work.d_x + at);
      }
    }
  }
  // Gradients of the channels of a row, which are one number of the output.
  void spread(long row) const {
    Shape const& in = work.windows.input;
    if (work.accumulate)
      spread<true>(row, in.channels);
    else
      spread<false>(row, in.channels);
  }
  template <bool Added> void spread(long row, int channels) const {
    Source const one = from(row);
    S const* const x = work.x == nullptr ? nullptr : work.x + row * channels;
    S* const d_x = work.d_x + row * channels;
    int const place = int(row % work.windows.input.positions()) * channels;
    A share = number<A>(one.d_y, 0), y = A(0);
    if constexpr (Kind == op::ReductionKind::mean) share *= A(1) / A(channels);
    if constexpr (Kind == op::ReductionKind::maximum)
      share /= A(one.chosen[0]), y = number<A>(one.y, 0);
    int const first = op::is_maximum(Kind) ? one.chosen[0] - place : 0;
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) {
      A g = share;
      if constexpr (Kind == op::ReductionKind::maximum) {
        A const a = number<A>(x, c);
        g = (a == y) | ((a != a) & (y != y)) ? share : A(0);
      } else if constexpr (Kind == op::ReductionKind::first_maximum) {
        g = c == first ? share : A(0);
      }
      store_number(Added ? number<A>(d_x, c) + g : g, d_x, c);
    }
  }

  // Gradients of `count` channels of some positions, from number `at` on.
  void gather(op::ReductionBox const& over, long n, long at, int first, int count,
              int positions) const {
    Shape const& out = work.windows.output;
    int const numbers = count * positions;
    A sum[reduced_channels] = {};
    for (int d = over.first[0]; d < over.last[0]; ++d)
      for (int h = over.first[1]; h < over.last[1]; ++h)
        for (int w = over.first[2]; w < over.last[2]; ++w) {
          int const q = op::ReductionWindows::position(out, d, h, w);
          long const row = (n * out.positions() + q) * out.channels;
          if (work.windows.joins_channels())
            add<true>(q, from(row), n, at, numbers, sum);
          else if (positions == 1)
            add<false>(q, from(row + first), n, at, numbers, sum);
          else
            add_repeated(q, from(row), n, at, count, numbers, sum);
        }
    put(sum, numbers, work.d_x + at);
  }

  // What is known of results side by side.
  struct Source {
    S const* d_y;
    S const* y;
    std::int32_t const* chosen;
  };
  Source from(long at) const {
    return {work.d_y + at, Kind == op::ReductionKind::maximum ? work.y + at : nullptr,
            op::is_maximum(Kind) ? work.chosen + at : nullptr};
  }
  void add_repeated(int q, Source const& one, long n, long at, int count, int numbers,
                    A* sum) const {
    S d_y[reduced_channels], y[reduced_channels];
    std::int32_t chosen[reduced_channels];
    for (int begin = 0; begin < numbers; begin += count)
      for (int c = 0; c < count; ++c) {
        d_y[begin + c] = one.d_y[c];
        if constexpr (Kind == op::ReductionKind::maximum) y[begin + c] = one.y[c];
        if constexpr (op::is_maximum(Kind)) chosen[begin + c] = one.chosen[c];
      }
    add<false>(q, {d_y, y, chosen}, n, at, numbers, sum);
  }
  // Adds to some numbers what the window of result q contributes; Joined: it is one for all.
  template <bool Joined>
  void add(int q, Source const& source, long n, long at, int numbers, A* sum) const {
    S const* const d_y = source.d_y;
    if constexpr (!op::is_maximum(Kind)) {
      A const factor = Kind == op::ReductionKind::sum ? A(1)
                       : uniform_share != A(0)        ? uniform_share
                                                      : A(1) / A(work.windows.count(q));
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) sum[i] += number<A>(d_y, Joined ? 0 : i) * factor;
    } else if constexpr (Kind == op::ReductionKind::maximum) {
      S const *const x = work.x + at, *const y = source.y;
      std::int32_t const* const chosen = source.chosen;
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        int const o = Joined ? 0 : i;
        A const a = number<A>(x, i), b = number<A>(y, o);
        bool const equal = (a == b) | ((a != a) & (b != b));
        sum[i] += equal ? number<A>(d_y, o) / A(chosen[o]) : A(0);
      }
    } else {
      std::int32_t const* const chosen = source.chosen;
      int const place = int(at - n * work.windows.input.size());
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        int const o = Joined ? 0 : i;
        sum[i] += chosen[o] == place + i ? number<A>(d_y, o) : A(0);
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
