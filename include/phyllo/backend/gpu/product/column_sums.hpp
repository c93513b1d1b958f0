// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// sums[part, k, c] = sum over the part's rows of quantity k at (row, c), in a fixed order: a block
/// has one part of the rows and 32 columns, of which each of its threads reads every so many rows;
/// these sums meet in scratch memory.
///
/// shape    sums (parts, quantities, columns)
/// options  Lanes: of a warp · Values: `quantities`, and values(row, c, sum) that adds to each
template <int Lanes, class Values> struct column_sums {
  static constexpr int warps = 8;
  static constexpr int threads = warps * Lanes;
  static constexpr int wide = 32, high = threads / wide;
  static constexpr int quantities = Values::quantities;
  static constexpr int scratch_bytes = quantities * threads * 4;

  Values values;
  float* sums = nullptr;
  long rows = 0;
  int columns = 0;
  int parts = 1;

  PHYLLO_INLINE int across() const { return (columns + wide - 1) / wide; }
  PHYLLO_INLINE long blocks() const { return long(across()) * parts; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    auto* const of_threads = reinterpret_cast<float*>(team.scratch);
    for (long block = team.block(); block < blocks(); block += team.blocks()) {
      int const first = int(block % across()) * wide;
      long const part = block / across();
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t, c = first + thread % wide;
        float sum[quantities] = {};
        if (c < columns)
          for (long r = rows * part / parts + thread / wide; r < rows * (part + 1) / parts;
               r += high)
            values(r, c, sum);
        PHYLLO_UNROLL_ON_DEVICE
        for (int k = 0; k < quantities; ++k) of_threads[k * threads + thread] = sum[k];
      }
      team.barrier();
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        int const k = thread / wide, c = first + thread % wide;
        if (k >= quantities || c >= columns) continue;
        float sum = 0;
        for (int h = 0; h < high; ++h) sum += of_threads[k * threads + h * wide + thread % wide];
        sums[(part * quantities + k) * columns + c] = sum;
      }
      team.barrier();
    }
  }
};

/// The numbers themselves.
template <class S> struct ColumnValues {
  static constexpr int quantities = 1;
  S const* x = nullptr;  // (rows, columns)
  int columns = 0;

  PHYLLO_INLINE void operator()(long row, int c, float (&sum)[1]) const {
    sum[0] += float(x[row * columns + c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
