// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Products of small matrices whose number of columns is known at run time only: blocks of rows
/// times one or two vectors. Columns that fill no vector are computed with some before them.
///
/// shape    sums (rows, Vectors lanes)
template <class A> struct ColumnBlocks {
  static constexpr int rows = InstructionSet::registers >= 32 ? 8 : 4;
  static constexpr bool serves(int columns) { return columns >= lanes<A>; }

  template <int Vectors> struct Sums {
    static constexpr int width = Vectors * lanes<A>;
    RegisterBlock<A, rows, Vectors, lanes<A>> registers;
    alignas(64) A sum[rows * width];

    PHYLLO_INLINE_ON_HOST Sums() { registers.begin(static_cast<A const*>(nullptr)); }
    PHYLLO_INLINE_ON_HOST void finish() { registers.store_rows(sum, width); }
    /// Row k but for its first columns, which another block has, to y or added to it.
    template <class S> void store(int k, int skipped, bool accumulate, S* y) {
      A* const row = sum + k * width + skipped;
      if (accumulate) add_numbers(y + skipped, width - skipped, row);
      store_numbers(row, width - skipped, y + skipped);
    }
  };

  /// block.template operator()<Vectors>(column, skipped) for all columns.
  template <class Block> static void each(int columns, Block const& block) {
    int column = 0;
    for (; column + 2 * lanes<A> <= columns; column += 2 * lanes<A>)
      block.template operator()<2>(column, 0);
    for (; column + lanes<A> <= columns; column += lanes<A>)
      block.template operator()<1>(column, 0);
    int const last = columns - lanes<A>;
    if (column < columns) block.template operator()<1>(last, column - last);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
