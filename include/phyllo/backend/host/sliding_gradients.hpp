// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/row_windows.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of a row of windows, of channels that read one channel each.
///
/// shape    sums (taps, whole vectors of channels)
/// cost     loads for each vector of products with three taps that stand a window apart: 0.67, and
///          1.33 for others
template <class A> struct SlidingGradients {
  using V = Vector<A>;
  using I = InstructionSet;
  static constexpr int some_vectors = InstructionSet::registers >= 32 ? 4 : 2;

  /// `all`: channels in whole vectors.
  static void add(RowWindows<A> const& of, long all, A* sums) {
    long c = 0;
    for (; c + some_vectors * lanes<A> <= all; c += some_vectors * lanes<A>)
      add_vectors<some_vectors>(of, c, sums + c, all);
    for (; c < all; c += lanes<A>) add_vectors<1>(of, c, sums + c, all);
  }

 private:
  // Vectors of channels from c on; three taps or two at a time, so that several sums are computed
  // at once: a product waits for the one before it.
  template <int Vectors>
  static void add_vectors(RowWindows<A> const& of, long c, A* sums, long all) {
    int const taps = of.taps;
    for (int r = 0; r < of.rows; ++r)
      for (int t = 0, left; t < taps; t += left == 3 || left > 4 ? 3 : left > 1 ? 2 : 1) {
        left = taps - t;
        A const* const numbers = of.row[r].numbers + c + t * of.tap;
        A* const to = sums + (long(of.row[r].number) * taps + t) * all;
        if (left == 3 || left > 4)
          add_some<3, Vectors>(of, numbers, of.grid + c, to, all);
        else if (left > 1)
          add_some<2, Vectors>(of, numbers, of.grid + c, to, all);
        else
          add_some<1, Vectors>(of, numbers, of.grid + c, to, all);
      }
  }
  template <int Taps, int Vectors>
  PHYLLO_NOINLINE static void add_some(RowWindows<A> const& of, A const* x, A const* z, A* sums,
                                       long all) {
    int const windows = of.windows;
    long const tap = of.tap, step = of.step, grid_pitch = of.grid_pitch;
    V total[Taps][Vectors];
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t) PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) total[t][v] = I::load(sums + t * all + v * lanes<A>);
    int w = 0;
    if (Taps > 1 && tap == step) {
      // What one window reads, the next one reads under the tap before.
      V seen[Taps][Vectors];
      PHYLLO_UNROLL_ON_HOST
      for (int t = 0; t + 1 < Taps; ++t) PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) seen[t][v] = I::load(x + t * step + v * lanes<A>);
      for (; w + Taps <= windows; w += Taps, x += Taps * step, z += Taps * grid_pitch) {
        PHYLLO_UNROLL_ON_HOST
        for (int i = 0; i < Taps; ++i) PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Vectors; ++v) {
          seen[(i + Taps - 1) % Taps][v] = I::load(x + (i + Taps - 1) * step + v * lanes<A>);
          V const factor = I::load(z + i * grid_pitch + v * lanes<A>);
          PHYLLO_UNROLL_ON_HOST
          for (int t = 0; t < Taps; ++t)
            I::accumulate(total[t][v], seen[(i + t) % Taps][v], factor);
        }
      }
    }
    for (; w < windows; ++w, x += step, z += grid_pitch) PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) {
      V const factor = I::load(z + v * lanes<A>);
      PHYLLO_UNROLL_ON_HOST
      for (int t = 0; t < Taps; ++t)
        total[t][v] = I::multiply_add(I::load(x + t * tap + v * lanes<A>), factor, total[t][v]);
    }
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t) PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) I::store(sums + t * all + v * lanes<A>, total[t][v]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
