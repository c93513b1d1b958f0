// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/chunk.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Sums over the rows of a matrix, as column_sums, of columns in chunks: a thread of a block has
/// one of 8 chunks side by side, and every so many rows.
///
/// shape    sums (parts, quantities, columns)
/// options  Lanes: of a warp · Values: `quantities`, `numbers` of a chunk, a Channels of a chunk's
///          first column, and values(row, c, channels, sum) that adds to each
template <int Lanes, class Values> struct chunk_sums {
  static constexpr int warps = 256 / Lanes;
  static constexpr int threads = 256;
  static constexpr int wide = 8, high = threads / wide;
  static constexpr int quantities = Values::quantities, numbers = Values::numbers;
  static constexpr int stride =
      threads + 1;  // of a number, so that those of a chunk differ in bank
  static constexpr int columns_here = wide * numbers;
  static constexpr int scratch_bytes = quantities * numbers * stride * 4;

  Values values;
  float* sums = nullptr;
  long rows = 0;
  int columns = 0;
  int parts = 1;

  PHYLLO_INLINE int across() const { return (columns + columns_here - 1) / columns_here; }
  PHYLLO_INLINE long blocks() const { return long(across()) * parts; }

  template <class Team> PHYLLO_FUNCTION void operator()(Team const& team) const {
    auto* const of_threads = reinterpret_cast<float*>(team.scratch);
    for (long block = team.block(); block < blocks(); block += team.blocks()) {
      int const first = int(block % across()) * columns_here;
      long const part = block / across();
      for (int t = 0; t < Team::threads_here; ++t) {
        int const thread = team.first_thread() + t;
        float sum[quantities][numbers] = {};
        add(sum, first + thread % wide * numbers, rows * part / parts + thread / wide,
            rows * (part + 1) / parts);
        PHYLLO_UNROLL_ON_DEVICE
        for (int k = 0; k < quantities; ++k) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int i = 0; i < numbers; ++i)
            of_threads[(k * numbers + i) * stride + thread] = sum[k][i];
        }
      }
      team.barrier();
      for (int t = 0; t < Team::threads_here; ++t)
        for (int o = team.first_thread() + t; o < quantities * columns_here; o += threads)
          write(of_threads, part, o / columns_here, first, o % columns_here);
      team.barrier();
    }
  }

 private:
  PHYLLO_INLINE void add(float (&sum)[quantities][numbers], int c, long begin, long end) const {
    if (c >= columns) return;
    typename Values::Channels const channels(values.work, c);
    for (long r = begin; r < end; r += high) values(r, c, channels, sum);
  }
  PHYLLO_INLINE void write(float const* of_threads, long part, int k, int first, int column) const {
    if (first + column >= columns) return;
    float const* const from =
        of_threads + (k * numbers + column % numbers) * stride + column / numbers;
    float sum = 0;
    for (int h = 0; h < high; ++h) sum += from[h * wide];
    sums[(part * quantities + k) * columns + first + column] = sum;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
