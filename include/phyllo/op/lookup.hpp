// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

/// Rows of a table by their indices (an embedding): y[r, c] = weight[x[r], c].
///
/// shape    x (rows), rows = N times positions · weight (entries, C) · y (rows, C)
/// errors   an index outside 0 .. entries - 1 reads nothing: its row of y is not a number, so that
///          neither is the loss, and the step is skipped; it has no gradient
/// numerics d_weight[e, c] adds the gradients of the rows with index e in rising order
/// cost     one read, one write of y; no atomics
struct Lookup {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    long rows = 0;
    int entries = 0;
    int channels = 0;
    std::int32_t const* x = nullptr;
    storage const* weight = nullptr;
    storage* y = nullptr;
  };

  /// d_weight[e, c] = sum over rows r with x[r] = e of d_y[r, c]; zero for an entry without rows.
  template <class Precision> struct BackwardParameters {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    long rows = 0;  // below 2^31
    int entries = 0;
    int channels = 0;
    std::int32_t const* x = nullptr;
    storage const* d_y = nullptr;
    accumulate* d_weight = nullptr;  // (entries, C), written
    // Workspace (work_count) of kernels that sort the rows: of those whose Kernels say
    // `sorts_rows`.
    std::int32_t* work = nullptr;
  };

  static constexpr int digits = 256;        // of an index, in which rows are sorted
  static constexpr int most_blocks = 1024;  // of rows that are sorted side by side
  static constexpr int fewest_rows = 64;    // of a block

  static int blocks_of(long rows) {
    long const blocks = (rows + fewest_rows - 1) / fewest_rows;
    return int(blocks < most_blocks ? blocks : most_blocks);
  }
  /// The order before and after a pass of sorting, the first row of each entry, and how often each
  /// digit occurs in each block.
  static long work_count(long rows, int entries) {
    return 2 * rows + entries + 1 + long(digits) * blocks_of(rows);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op
