// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::gpu {

/// sums[c] = sum over rows of x[row, c], in a fixed order: a block has 32 columns, of which each of
/// its threads reads every so many rows; these sums meet in scratch memory.
///
/// shape    x (rows, columns) · sums (columns)
template <class Unit> struct column_sums {
  static constexpr int warps = 8;
  static constexpr int threads = warps * Unit::lanes;
  static constexpr int wide = 32, high = threads / wide;
  static constexpr int scratch_bytes = threads * 4;

  typename Unit::storage const* x = nullptr;
  float* sums = nullptr;
  long rows = 0;
  int columns = 0;

  PHYLLO_INLINE long blocks() const { return (columns + wide - 1) / wide; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    auto* const parts = reinterpret_cast<float*>(team.scratch);
    for (long block = team.block(); block < blocks(); block += team.blocks()) {
      for (int t = team.first_thread(); t < team.last_thread(); ++t) {
        long const c = block * wide + t % wide;
        float sum = 0;
        for (long r = t / wide; r < rows && c < columns; r += high)
          sum += float(x[r * columns + c]);
        parts[t] = sum;
      }
      team.barrier();
      for (int t = team.first_thread(); t < team.last_thread(); ++t) {
        long const c = block * wide + t;
        if (t >= wide || c >= columns) continue;
        float sum = 0;
        for (int h = 0; h < high; ++h) sum += parts[h * wide + t];
        sums[c] = sum;
      }
      team.barrier();
    }
  }
};

}  // namespace phyllo::gpu
