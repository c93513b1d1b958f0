// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Rows x Columns sums in registers, each a vector over samples: the innermost loop of
/// convolutions. A channel count that is no multiple of a vector costs nothing here.
///
/// cost     a depth step loads Rows + Columns times for Rows * Columns multiply-adds
template <class T, int Rows, int Columns> struct LaneBlock {
  using I = InstructionSet;
  Vector<T> sum[Rows][Columns];

  /// Every sum of row r begins with first[r], or with zero.
  PHYLLO_INLINE_ON_HOST void begin(T const* first) {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      Vector<T> const v = first != nullptr ? I::broadcast(first[r]) : I::zero(T());
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Columns; ++c) sum[r][c] = v;
    }
  }
  PHYLLO_INLINE_ON_HOST void load(T const* from, long row_stride, long column_stride) {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Columns; ++c)
        sum[r][c] = I::load(from + r * row_stride + c * column_stride);
    }
  }
  PHYLLO_INLINE_ON_HOST void store(T* to, long row_stride, long column_stride) const {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Columns; ++c)
        I::store(to + r * row_stride + c * column_stride, sum[r][c]);
    }
  }

  /// sum(r, c) += w(k, r) x(k, c) for k < depth: numbers w, the same for all samples.
  PHYLLO_INLINE_ON_HOST void multiply(T const* w, long w_stride, T const* x, long column_stride,
                                      int depth) {
    for (int k = 0; k < depth; ++k) {
      Vector<T> column[Columns];
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Columns; ++c) column[c] = I::load(x + c * column_stride);
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) {
        Vector<T> const factor = I::broadcast(w[r]);
        PHYLLO_UNROLL_ON_HOST
        for (int c = 0; c < Columns; ++c) I::accumulate(sum[r][c], factor, column[c]);
      }
      w += w_stride;
      x += lanes<T>;
    }
  }

  /// sum(r, c) += a(k, r) b(k, c) for k < depth: vectors over samples both.
  PHYLLO_INLINE_ON_HOST void multiply_lanes(T const* a, long a_stride, T const* b, long b_stride,
                                            int depth) {
    for (int k = 0; k < depth; ++k) {
      Vector<T> column[Columns];
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Columns; ++c) column[c] = I::load(b + c * lanes<T>);
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) {
        Vector<T> const factor = I::load(a + r * lanes<T>);
        PHYLLO_UNROLL_ON_HOST
        for (int c = 0; c < Columns; ++c) I::accumulate(sum[r][c], factor, column[c]);
      }
      a += a_stride;
      b += b_stride;
    }
  }
};

/// How rows x columns of sums are cut into blocks that fill the registers.
template <int Rows, int Columns> struct LaneShape {
  int rows = 1;
  int columns = 1;

  // Eighths of a cycle for a depth step of all blocks: two multiply-adds or two loads a cycle, at
  // least four cycles for the next sum to be ready, and a little for every load beside them.
  static constexpr int cost(int rows, int columns) {
    int sum = 0;
    for (int r = 0; r < Rows; r += rows)
      for (int c = 0; c < Columns; c += columns) {
        int const of_rows = Rows - r < rows ? Rows - r : rows;
        int const of_columns = Columns - c < columns ? Columns - c : columns;
        int const products = of_rows * of_columns, loads = of_rows + of_columns;
        int const most = products > loads ? products : loads;
        sum += 4 * (most > 8 ? most : 8) + loads;
      }
    return sum;
  }
  static constexpr LaneShape best() {
    LaneShape shape;
    for (int r = 1; r <= Rows && r <= 12; ++r)
      for (int c = 1; c <= Columns && c <= 8; ++c)
        if (r * c + c + 1 <= InstructionSet::registers &&
            cost(r, c) < cost(shape.rows, shape.columns))
          shape = {r, c};
    return shape;
  }

  /// f.template operator()<rows, columns>(first row, first column) for every block.
  template <class F> PHYLLO_INLINE_ON_HOST static void for_each(F const& f) {
    constexpr LaneShape shape = best();
    constexpr int rest = Columns % shape.columns;
    for (int c = 0; c + shape.columns <= Columns; c += shape.columns)
      for_rows<shape.rows, shape.columns>(f, c);
    if constexpr (rest > 0) for_rows<shape.rows, rest>(f, Columns - rest);
  }

 private:
  template <int R, int C, class F> PHYLLO_INLINE_ON_HOST static void for_rows(F const& f, int c) {
    for (int r = 0; r + R <= Rows; r += R) f.template operator()<R, C>(r, c);
    if constexpr (Rows % R > 0) f.template operator()<Rows % R, C>(Rows - Rows % R, c);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
