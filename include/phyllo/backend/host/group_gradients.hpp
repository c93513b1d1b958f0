// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/row_windows.hpp>
#include <phyllo/backend/host/simd/register_block.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of a row of windows, of groups whose results are whole vectors.
///
/// shape    sums (groups, taps, members, results)
/// cost     loads for each vector of products of two vectors and four members: 0.75
template <class A> struct GroupGradients {
  /// Of `count` channels of the grid.
  static void add(RowWindows<A> const& of, int count, A* sums) {
    int const members = of.members, results = of.results;
    for (int g = 0; g < count / results; ++g)
      for (int r = 0; r < of.rows; ++r)
        for (int t = 0; t < of.taps; ++t) {
          A const* const x = of.row[r].numbers + long(g) * members + t * of.tap;
          long const tap = (long(g) * of.window + of.row[r].number * of.taps + t) * members;
          for (int o = 0; o < results; o += lanes<A>) {
            A const* const z = of.grid + g * results + o;
            A* const to = sums + tap * results + o;
            if (o + 2 * lanes<A> <= results)
              add_members<2>(of, x, z, to), o += lanes<A>;
            else
              add_members<1>(of, x, z, to);
          }
        }
  }

 private:
  template <int Vectors>
  static void add_members(RowWindows<A> const& of, A const* x, A const* z, A* sums) {
    constexpr int most = 8 / Vectors;
    int const members = of.members, results = of.results;
    int m = 0;
    for (; m + most <= members; m += most)
      add_some<most, Vectors>(of, x + m, z, sums + m * results);
    if constexpr (most > 4)
      for (; m + 4 <= members; m += 4) add_some<4, Vectors>(of, x + m, z, sums + m * results);
    for (; m < members; ++m) add_some<1, Vectors>(of, x + m, z, sums + m * results);
  }
  template <int Members, int Vectors>
  PHYLLO_NOINLINE static void add_some(RowWindows<A> const& of, A const* x, A const* z, A* sums) {
    RegisterBlock<A, Members, Vectors, lanes<A>> block;
    block.begin(static_cast<A const*>(nullptr));
    block.template multiply<2>(x, 1, of.step, z, of.grid_pitch, of.windows);
    block.add_rows_to(sums, of.results);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
