// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/scan.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where a tile of samples and the packed weights are in a slice of work memory.
///
/// shape    weights forward (unit blocks, H, gates, lanes), biases behind them (unit blocks, gates,
///          lanes); backward panels of at most two vectors of units, each (gates, H, its units).
///          Values of a tile (rows, padded)
template <class Cell, int Hidden, class A> struct ScanLayout {
  static constexpr int H = Hidden, G = Cell::gates, states = Cell::states;
  static constexpr int width = lanes<A>;
  static constexpr int unit_blocks = (H + width - 1) / width;
  static constexpr int padded = unit_blocks * width;
  static constexpr int panels = (unit_blocks + 1) / 2;

  /// Rows whose sums are in registers at once, for `vectors` sums of each: a divisor of
  /// row_multiple.
  static constexpr int rows_of(int vectors) {
    int rows = (InstructionSet::registers - 1 - vectors) / vectors;
    if (rows < 1) return 1;
    while (row_multiple % rows != 0) --rows;
    return rows;
  }

  /// Gates whose sums are computed together in the forward pass: as many as leave most sums in
  /// registers, all of them where that is no fewer.
  static constexpr int gates_at_once = [] {
    int best = G;
    for (int g = G - 1; g > 0; --g)
      if (G % g == 0 && rows_of(g) * g > rows_of(best) * best) best = g;
    return best;
  }();
  static constexpr int block_rows = rows_of(gates_at_once);

  // Samples of a tile: of more, the lines of two times exceed the first-level cache.
  static constexpr int tile = row_multiple;

  static constexpr long weights = long(H) * G * padded;
  static constexpr long biases = long(G) * padded;
  static constexpr long value = long(tile) * padded;
  static constexpr long sums = long(tile) * G * H;
  // Of a block of rows: the sums, and what the cell keeps.
  static constexpr long block = long(block_rows) * (G + Cell::kept) * width;
  static constexpr long forward = weights + biases + (states + 1) * value + block;
  static constexpr long backward = weights + states * value + sums;
  static constexpr long bytes = long(sizeof(A)) * (forward > backward ? forward : backward);
};

/// run(first row, count of the rows of the block) over the rows of a tile; few are computed one by
/// one.
template <int Rows, class Run> PHYLLO_INLINE_ON_HOST void each_row_block(int rows, Run const& run) {
  if (rows <= 2)
    for (int r = 0; r < rows; ++r) run.template operator()<1>(r);
  else
    for (int r = 0; r < rows; r += Rows) run.template operator()<Rows>(r);
}

}  // namespace phyllo::inline PHYLLO_ISA::host
