// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/scan/scan_layout.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// One worker: some tiles of samples, each through all times backwards. The gradients of the sums
/// of one time are the left operand of the product that leads to the h before.
template <class Cell, int Hidden, class P> struct scan_backward {
  using Op = op::Scan<Cell, Hidden>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Layout = ScanLayout<Cell, Hidden, A>;
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states, kept = Cell::kept;
  static constexpr int width = Layout::width, padded = Layout::padded;

  typename Op::template Backward<P> work;
  int tiles = 0;
  int workers = 0;

  void operator()(int worker) const {
    A* const weights = reinterpret_cast<A*>(work.memory.slice(worker));
    pack(weights);
    each_piece(worker, workers, tiles, [&](int tile) {
      int const first = tile * Layout::tile;
      run(first, work.batch - first < Layout::tile ? work.batch - first : Layout::tile, weights);
    });
  }

 private:
  static constexpr int vectors_of(int panel) {
    return 2 * panel + 2 <= Layout::unit_blocks ? 2 : 1;
  }
  void pack(A* to) const {
    for (int p = 0; p < Layout::panels; ++p) {
      int const units = vectors_of(p) * width;
      for (int i = 0; i < G * H; ++i)
        for (int u = 0; u < units; ++u) {
          int const k = 2 * p * width + u;
          *to++ = k < H ? A(work.weight[long(k) * G * H + i]) : A(0);
        }
    }
  }

  void run(int first, int count, A const* weights) const {
    A* const d_state = const_cast<A*>(weights) + Layout::weights;
    A* const d_r = d_state + states * Layout::value;
    for (long i = 0; i < states * Layout::value + Layout::sums; ++i) d_state[i] = A(0);
    for (int step = work.times - 1; step >= 0; --step) {
      for (int r = 0; r < count; ++r)
        units(first + r, step, d_state + r * padded, d_r + long(r) * G * H);
      if (step > 0 || work.d_initial[0].x != nullptr) multiply(count, weights, d_r, d_state);
    }
    for (int s = 0; s < states; ++s)
      if (work.d_initial[s].x != nullptr)
        for (int r = 0; r < count; ++r)
          finish(work.d_initial[s], first + r, d_state + s * Layout::value + r * padded);
  }

  // All units of sample n at one time.
  void units(int n, int step, A* d_state, A* d_r) const {
    int const length = work.length(n);
    bool const valid = work.is_valid(length);
    long const row = work.row(n, step);
    S const* const d_y = work.d_y + row * work.y_channels();
    S* const d_x = work.d_x + row * G * H;
    S* const d_sum = Cell::splits_gradient ? work.d_r + row * G * H : nullptr;
    for (int s = work.carried_from; s < states && valid; ++s)
      add_numbers(d_y + (1 + s - work.carried_from) * H, H, d_state + s * Layout::value);
    if (!work.reaches(length, step)) {
      for (int i = 0; i < G * H; ++i) {
        d_r[i] = A(0);
        d_x[i] = S(A(0));
        if constexpr (Cell::splits_gradient) d_sum[i] = S(A(0));
      }
      return;
    }
    S const* const more = work.keep_more + row * Op::more_kept * H;
    S const* const h_before = work.h_before + row * H;
    A const* const before = states > 1 ? work.before + row * (states - 1) * H : nullptr;
    // The lines of the next time, as in the forward pass.
    constexpr int line = 64 / int(sizeof(S));
    long const ahead = step > 0 ? (work.reverse ? 1 : -1) : 0;
    for (int i = 0; i < Op::more_kept * H; i += line)
      __builtin_prefetch(more + ahead * Op::more_kept * H + i);
    for (int i = 0; i < G * H; i += line) __builtin_prefetch(d_x + ahead * G * H + i, 1);
    for (int i = 0; i < H; i += line) {
      __builtin_prefetch(h_before + ahead * H + i);
      __builtin_prefetch(d_y + ahead * work.y_channels() + i);
      if constexpr (states > 1) __builtin_prefetch(before + ahead * (states - 1) * H + i);
      if constexpr (Cell::splits_gradient)
        for (int g = 0; g < G; ++g) __builtin_prefetch(d_sum + (ahead * G + g) * H + i, 1);
    }
    PHYLLO_SIMD(16)
    for (int u = 0; u < H; ++u) {
      A values[kept], state[states], d[states], d_input[G], d_recurrent[G];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < kept; ++i)
        values[i] = number<A>(i < G ? d_x + i * H : more + (i - G) * H, u);
      state[0] = number<A>(h_before, u);
      PHYLLO_UNROLL_ON_HOST
      for (int s = 1; s < states; ++s) state[s] = before[(s - 1) * H + u];
      PHYLLO_UNROLL_ON_HOST
      for (int s = 0; s < states; ++s) d[s] = d_state[s * Layout::value + u];
      d[0] += number<A>(d_y, u);
      Cell::backward(values, state, d, d_input, d_recurrent);
      PHYLLO_UNROLL_ON_HOST
      for (int s = 0; s < states; ++s) d_state[s * Layout::value + u] = d[s];
      PHYLLO_UNROLL_ON_HOST
      for (int g = 0; g < G; ++g) {
        store_number(d_input[g], d_x + g * H, u);
        if constexpr (Cell::splits_gradient) {
          store_number(d_recurrent[g], d_sum + g * H, u);
          d_r[g * H + u] = d_recurrent[g];
        } else {
          d_r[g * H + u] = d_input[g];
        }
      }
    }
  }

  template <int Vectors> struct Block {
    A const *weights, *d_r;
    A* d_h;
    template <int Rows> PHYLLO_WHOLE_VECTORS void operator()(int r) const {
      RegisterBlock<A, Rows, Vectors, width> block;
      block.load_rows(d_h + r * padded, padded);
      block.multiply(d_r + long(r) * G * H, G * H, 1, weights, Vectors * width, G * H);
      block.store_rows(d_h + r * padded, padded);
    }
  };
  void multiply(int count, A const* weights, A const* d_r, A* d_h) const {
    for (int p = 0; p < Layout::panels; ++p) {
      A const* const panel = weights + 2L * p * width * G * H;
      if (vectors_of(p) == 2)
        each_row_block<Layout::rows_of(2)>(count, Block<2>{panel, d_r, d_h + 2 * p * width});
      else
        each_row_block<Layout::rows_of(1)>(count, Block<1>{panel, d_r, d_h + 2 * p * width});
    }
  }

  static void finish(op::ScanState<S> const& initial, int n, A const* d) {
    S* const to = initial.row(n);
    for (int c = 0; c < initial.channels && !initial.accumulate; ++c)
      to[c - initial.from] = S(A(0));
    for (int u = 0; u < H; ++u) to[u] = S(A(to[u]) + d[u]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
