// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/core/elementary.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Rows of few numbers, 16 of them side by side, so that vectors run over rows and none is empty.
/// One piece: a run of rows.
///
/// shape    (rows, channels), channels <= most
/// numerics a row's bits depend on its own numbers only
template <class A> struct ShortRows {
  static constexpr int most = 63;
  static constexpr int lanes = 16;
  /// Channels up to which `work`, a pass of a softmax, is faster side by side than row by row. The
  /// gradient of 32 channels takes 2.7 ms so and 0.9 ms row by row, of 10 channels 0.9 and 2.1 ms,
  /// the forward pass of 32 channels 2.0 and 4.4 ms (65,536 rows, float, one core with AVX-512).
  template <class Work> static constexpr int most_of(Work const&) {
    return requires(Work w) { w.d_x; } ? lanes - 1 : most;
  }
  long rows = 0;
  int channels = 0;
  int pieces = 1;

  /// visit(first row, rows) for each block of a piece.
  template <class Visit> void for_each_block(int piece, Visit const& visit) const {
    long const end = rows * (piece + 1) / pieces;
    for (long r = rows * piece / pieces; r < end; r += lanes)
      visit(r, end - r < lanes ? int(end - r) : lanes);
  }

  /// tile (channels, lanes) = `count` rows; zeros in the lanes behind them.
  template <class S> PHYLLO_INLINE_ON_HOST void load(S const* from, int count, A* tile) const {
    for (int r = 0; r < lanes; ++r)
      for (int c = 0; c < channels; ++c)
        tile[c * lanes + r] = r < count ? number<A>(from + long(r) * channels, c) : A(0);
  }
  template <class S>
  PHYLLO_INLINE_ON_HOST void store(A const* tile, int count, bool added, S* to) const {
    for (int r = 0; r < count; ++r)
      for (int c = 0; c < channels; ++c) {
        A const value = tile[c * lanes + r];
        S* const row = to + long(r) * channels;
        store_number(added ? number<A>(row, c) + value : value, row, c);
      }
  }
};

/// Softmax of short rows, or its logarithm.
template <bool Logarithm, class P> struct short_softmax_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Rows = ShortRows<A>;
  static constexpr int lanes = Rows::lanes;
  Rows of;
  S const* x = nullptr;
  S* y = nullptr;

  void operator()(int piece) const {
    of.for_each_block(piece, [this](long first, int count) { block(first, count); });
  }

 private:
  PHYLLO_NOINLINE void block(long first, int count) const {
    alignas(64) A tile[Rows::most * lanes];
    alignas(64) A largest[lanes], sum[lanes] = {};
    int const channels = of.channels;
    of.load(x + first * channels, count, tile);
    PHYLLO_SIMD(16)
    for (int r = 0; r < lanes; ++r) largest[r] = tile[r];
    for (int c = 1; c < channels; ++c) {
      A const* const line = tile + c * lanes;
      PHYLLO_SIMD(16)
      for (int r = 0; r < lanes; ++r) largest[r] = line[r] > largest[r] ? line[r] : largest[r];
    }
    for (int c = 0; c < channels; ++c) {
      A* const line = tile + c * lanes;
      PHYLLO_SIMD(16)
      for (int r = 0; r < lanes; ++r) {
        A const shifted = line[r] - largest[r], e = decay(shifted);
        sum[r] += e;
        line[r] = Logarithm ? shifted : e;
      }
    }
    PHYLLO_SIMD(16)
    for (int r = 0; r < lanes; ++r) sum[r] = Logarithm ? logarithm(sum[r]) : A(1) / sum[r];
    for (int c = 0; c < channels; ++c) {
      A* const line = tile + c * lanes;
      PHYLLO_SIMD(16)
      for (int r = 0; r < lanes; ++r) line[r] = Logarithm ? line[r] - sum[r] : line[r] * sum[r];
    }
    of.store(tile, count, false, y + first * channels);
  }
};

template <bool Logarithm, class P> struct short_softmax_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Rows = ShortRows<A>;
  static constexpr int lanes = Rows::lanes;
  Rows of;
  S const* y = nullptr;
  S const* d_y = nullptr;
  S* d_x = nullptr;
  bool accumulate = false;

  void operator()(int piece) const {
    of.for_each_block(piece, [this](long first, int count) { block(first, count); });
  }

 private:
  PHYLLO_NOINLINE void block(long first, int count) const {
    alignas(64) A results[Rows::most * lanes], gradient[Rows::most * lanes];
    alignas(64) A sum[lanes] = {};
    int const channels = of.channels;
    of.load(y + first * channels, count, results);
    of.load(d_y + first * channels, count, gradient);
    for (int c = 0; c < channels; ++c) {
      A const *const p = results + c * lanes, *const g = gradient + c * lanes;
      PHYLLO_SIMD(16)
      for (int r = 0; r < lanes; ++r) sum[r] += Logarithm ? g[r] : p[r] * g[r];
    }
    for (int c = 0; c < channels; ++c) {
      A *const p = results + c * lanes, *const g = gradient + c * lanes;
      PHYLLO_SIMD(16)
      for (int r = 0; r < lanes; ++r)
        g[r] = Logarithm ? g[r] - exponential(p[r]) * sum[r] : p[r] * (g[r] - sum[r]);
    }
    of.store(gradient, count, accumulate, d_x + first * channels);
  }
};

/// Runs them: `work` has x and y, or y, d_y and d_x.
template <bool Logarithm, class P, class Space, class Work>
void launch_short_softmax(Space const& exec, std::string const& label, Work const& work, long rows,
                          int channels) {
  if (rows == 0) return;
  ShortRows<typename P::accumulate> of{rows, channels, 1};
  of.pieces = worthy_pieces(exec, rows, channels);
  if constexpr (requires { work.d_x; })
    launch(exec, label, of.pieces,
           short_softmax_backward<Logarithm, P>{of, work.y, work.d_y, work.d_x, work.accumulate});
  else
    launch(exec, label, of.pieces, short_softmax_forward<Logarithm, P>{of, work.x, work.y});
}

}  // namespace phyllo::inline PHYLLO_ISA::host
