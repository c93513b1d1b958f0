// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/scan/scan_layout.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA::host {

/// One worker: some tiles of samples, each through all times. A block of sums has all gates of a
/// vector of units for a few samples, so that the cell is evaluated while they are in the
/// first-level cache: first all gates of the block, then all states, because the states of one
/// sample alone are a chain of operations that wait for each other.
template <class Cell, int Hidden, class P> struct scan_forward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Layout = ScanLayout<Cell, Hidden, A>;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states, kept = Cell::kept;
  static constexpr int width = Layout::width, padded = Layout::padded;

  typename Op::template Forward<P> work;
  int tiles = 0;
  int workers = 0;

  void operator()(int worker) const {
    A* const weights = reinterpret_cast<A*>(work.memory.slice(worker));
    pack(weights);
    each_piece(worker, workers, tiles, [&](int tile) {
      int const first = tile * Layout::tile;
      int const count = work.batch - first < Layout::tile ? work.batch - first : Layout::tile;
      if (work.keep != nullptr)
        run<true>(first, count, weights);
      else
        run<false>(first, count, weights);
    });
  }

 private:
  void pack(A* to) const {
    A* const bias = to + Layout::weights;
    for (int b = 0; b < Layout::unit_blocks; ++b) {
      int const count = H - b * width < width ? H - b * width : width;
      for (int k = -1; k < H; ++k)
        for (int g = 0; g < G; ++g) {
          A* const line =
              k < 0 ? bias + (b * G + g) * width : to + ((long(b) * H + k) * G + g) * width;
          S const* const from = k < 0 ? work.bias : work.weight + long(k) * G * H;
          for (int u = 0; u < width; ++u)
            line[u] = u < count && from != nullptr ? A(from[g * H + b * width + u]) : A(0);
        }
    }
  }

  template <bool Keeps> void run(int first, int count, A const* weights) const {
    A const* const bias = weights + Layout::weights;
    A* const room = const_cast<A*>(bias) + Layout::biases;
    A* const sums = room + (states + 1) * Layout::value;
    begin(first, count, room);
    for (int step = 0; step < work.times; ++step) {
      A const* const h = room + step % 2 * Layout::value;
      A* const next = room + (step + 1) % 2 * Layout::value;
      for (int b = 0; b < Layout::unit_blocks; ++b) {
        BlockOf<Keeps> const block{*this,
                                   first,
                                   count,
                                   step,
                                   b,
                                   weights + long(b) * H * G * width,
                                   bias + b * G * width,
                                   h,
                                   next,
                                   room + 2 * Layout::value,
                                   sums};
        each_row_block<Layout::block_rows>(count, block);
      }
      if (work.carried_from < states) carry(first, count, step, next, room + 2 * Layout::value);
    }
  }

  // The initial states; rows and units that there are not are zero.
  void begin(int first, int count, A* room) const {
    for (long i = 0; i < (states + 1) * Layout::value; ++i) room[i] = A(0);
    for (int s = 0; s < states; ++s) {
      if (work.initial[s].x == nullptr) continue;
      A* const state = room + (s == 0 ? 0 : s + 1) * Layout::value;
      for (int r = 0; r < count; ++r) {
        S const* const from = work.initial[s].row(first + r);
        for (int u = 0; u < H; ++u) state[r * padded + u] = A(from[u]);
      }
    }
  }

  template <bool Keeps> struct BlockOf {
    scan_forward const& scan;
    int first, count, step, b;
    A const *weights, *bias, *h;
    A *next, *others, *sums;

    template <int Rows> PHYLLO_WHOLE_VECTORS void operator()(int r) const {
      constexpr int at_once = Rows == 1 ? G : Layout::gates_at_once;
      for (int g = 0; g < G; g += at_once) {
        RegisterBlock<A, Rows, at_once, width> block;
        block.begin(bias + g * width);
        block.multiply(h + r * padded, padded, 1, weights + g * width, G * width, H);
        block.store_rows(sums + g * width, G * width);
      }
      constexpr int tail = H - (Layout::unit_blocks - 1) * width;
      int const end = r + Rows < count ? r + Rows : count;
      if (b + 1 < Layout::unit_blocks)
        units<width>(r, end);
      else
        units<tail>(r, end);
    }
    // Never inlined: among these variables GCC finds no registers for all sums.
    template <int Count> PHYLLO_NOINLINE void units(int begin, int end) const {
      A* const values = sums + Layout::block_rows * G * width;
      for (int i = begin; i < end; ++i)
        scan.template activate<Count, Keeps>(first + i, step, b * width,
                                             sums + (i - begin) * G * width,
                                             values + (i - begin) * kept * width);
      for (int i = begin; i < end; ++i)
        scan.template advance<Count, Keeps>(first + i, step, b * width,
                                            values + (i - begin) * kept * width, at(h, i),
                                            at(next, i), at(others, i));
    }
    template <class T> T* at(T* value, int row) const { return value + row * padded + b * width; }
  };

  // Gates of units [first, first + Count) of sample n at one time; r: (gates, width), values:
  // (kept, width).
  template <int Count, bool Keeps>
  PHYLLO_INLINE_ON_HOST void activate(int n, int step, int first, A const* r, A* values) const {
    if (!work.reaches(work.length(n), step)) return;
    S const* const x = work.x + work.row(n, step) * G * H + first;
    // The lines of the next time: a tile reads and writes too many places for the hardware to
    // foresee.
    long const ahead = ahead_of(step) * G * H;
    for (int g = 0; g < G; ++g) __builtin_prefetch(x + ahead + g * H, Keeps);
    PHYLLO_SIMD(16)
    for (int u = 0; u < Count; ++u) {
      A input[G], sum[G], keep[kept];
      PHYLLO_UNROLL_ON_HOST
      for (int g = 0; g < G; ++g) {
        input[g] = number<A>(x + g * H, u);
        sum[g] = r[g * width + u];
      }
      Cell::activate(input, sum, keep);
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < kept; ++i) values[i * width + u] = keep[i];
    }
  }
  // Their states.
  template <int Count, bool Keeps>
  PHYLLO_INLINE_ON_HOST void advance(int n, int step, int first, A const* values, A const* h,
                                     A* next, A* others) const {
    int const length = work.length(n);
    long const row = work.row(n, step);
    S* const y = work.y + row * work.y_channels() + first;
    if (!work.reaches(length, step)) return skip<Count>(length, row, first, h, next, y);
    S* const keep = Keeps ? work.keep + row * G * H + first : nullptr;
    S* const more = Keeps ? work.keep_more + row * Op::more_kept * H + first : nullptr;
    S* const h_before = Keeps ? work.h_before + row * H + first : nullptr;
    A* const before = Keeps && states > 1 ? work.before + row * (states - 1) * H + first : nullptr;
    long const ahead = ahead_of(step);
    __builtin_prefetch(y + ahead * work.y_channels(), 1);
    if constexpr (Keeps) {
      for (int i = 0; i < Op::more_kept; ++i)
        __builtin_prefetch(more + (ahead * Op::more_kept + i) * H, 1);
      __builtin_prefetch(h_before + ahead * H, 1);
      for (int s = 0; s + 1 < states; ++s)
        __builtin_prefetch(before + (ahead * (states - 1) + s) * H, 1);
    }
    PHYLLO_SIMD(16)
    for (int u = 0; u < Count; ++u) {
      A state[states], numbers[kept];
      state[0] = h[u];
      PHYLLO_UNROLL_ON_HOST
      for (int s = 1; s < states; ++s) state[s] = others[(s - 1) * Layout::value + u];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < kept; ++i) numbers[i] = values[i * width + u];
      if constexpr (Keeps) {
        store_number(state[0], h_before, u);
        PHYLLO_UNROLL_ON_HOST
        for (int s = 1; s < states; ++s) before[(s - 1) * H + u] = state[s];
      }
      Cell::advance(state, numbers);
      next[u] = rounded_to<S>(state[0]);
      store_number(state[0], y, u);
      PHYLLO_UNROLL_ON_HOST
      for (int s = 1; s < states; ++s) others[(s - 1) * Layout::value + u] = state[s];
      if constexpr (Keeps) {
        PHYLLO_UNROLL_ON_HOST
        for (int i = 0; i < kept; ++i)
          store_number(numbers[i], i < G ? keep + i * H : more + (i - G) * H, u);
      }
    }
  }
  // Rows from one time to the next; none behind the last.
  long ahead_of(int step) const { return step + 1 < work.times ? (work.reverse ? -1 : 1) : 0; }
  // Beyond the length.
  template <int Count> void skip(int length, long row, int first, A const* h, A* next, S* y) const {
    S const outside = S(work.is_valid(length) ? A(0) : std::numeric_limits<A>::quiet_NaN());
    for (int u = 0; u < Count; ++u) next[u] = h[u], y[u] = outside;
    if (work.keep == nullptr) return;
    for (int u = 0; u < Count; ++u) {
      work.h_before[row * H + first + u] = S(A(0));
      for (int g = 0; g < G; ++g) work.keep[(row * G + g) * H + first + u] = S(A(0));
      for (int i = 0; i < Op::more_kept; ++i)
        work.keep_more[(row * Op::more_kept + i) * H + first + u] = S(A(0));
      for (int s = 0; s + 1 < states; ++s)
        work.before[(row * (states - 1) + s) * H + first + u] = A(0);
    }
  }
  // The states behind h in the rows of y.
  void carry(int first, int count, int step, A const* next, A const* others) const {
    for (int r = 0; r < count; ++r) {
      S* const y = work.y + work.row(first + r, step) * work.y_channels();
      bool const valid = work.is_valid(work.length(first + r));
      for (int s = work.carried_from; s < states; ++s) {
        A const* const state = (s == 0 ? next : others + (s - 1) * Layout::value) + r * padded;
        for (int u = 0; u < H; ++u)
          y[(1 + s - work.carried_from) * H + u] =
              S(valid ? state[u] : std::numeric_limits<A>::quiet_NaN());
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
