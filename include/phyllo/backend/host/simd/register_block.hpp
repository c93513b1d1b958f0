// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Rows x Vectors sums of products in registers: the innermost loop of every contraction.
///
/// shape    sum (Rows, Vectors lanes); of the last vector Last lanes belong to the matrix
/// cost     a depth step loads Vectors + Rows times for Rows * Vectors multiply-adds, which the
///          widths of BlockShape keep below the two loads a cycle of current processors
/// source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
///          ACM TOMS 34 (2008) 12
template <class T, int Rows, int Vectors, int Last> struct RegisterBlock {
  using I = InstructionSet;
  Vector<T> sum[Rows][Vectors];

  /// W: T, or a 16-bit type whose numbers become T.
  template <class W> PHYLLO_INLINE_ON_HOST static Vector<T> load(W const* from, int v) {
    if constexpr (Last < lanes<T>)
      if (v + 1 == Vectors) return I::template load_part<Last>(from + v * lanes<T>);
    return I::load(from + v * lanes<T>);
  }
  PHYLLO_INLINE_ON_HOST static void store(T* to, int v, Vector<T> x) {
    if constexpr (Last < lanes<T>)
      if (v + 1 == Vectors) return I::template store_part<Last>(to + v * lanes<T>, x);
    I::store(to + v * lanes<T>, x);
  }

  /// Every row begins with the same numbers, or with zeros.
  template <class W> PHYLLO_INLINE_ON_HOST void begin(W const* row) {
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) {
      Vector<T> const first = row != nullptr ? load(row, v) : I::zero(T());
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) sum[r][v] = first;
    }
  }
  PHYLLO_INLINE_ON_HOST void load_rows(T const* from, long stride) {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) sum[r][v] = load(from + r * stride, v);
    }
  }
  PHYLLO_INLINE_ON_HOST void store_rows(T* to, long stride) const {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) store(to + r * stride, v, sum[r][v]);
    }
  }
  /// to += the sums. Of a long sum, add parts that begin at zero: rounding errors are smaller than
  /// in one sum over all numbers.
  PHYLLO_INLINE_ON_HOST void add_rows_to(T* to, long stride) const {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v)
        store(to + r * stride, v, I::add(load(to + r * stride, v), sum[r][v]));
    }
  }
  /// The sums into a tile, whose lines hold whole vectors.
  PHYLLO_INLINE_ON_HOST void store_lines(T* to, long stride) const {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) I::store(to + r * stride + v * lanes<T>, sum[r][v]);
    }
  }

  /// sum(r, v) += x(r, k) w(k, v) for k < depth, k rising; so many depths in one turn of the loop.
  template <int Depths = 1, class W>
  PHYLLO_INLINE_ON_HOST void multiply(T const* x, long row_stride, long depth_stride, W const* w,
                                      long w_stride, int depth) {
    int k = 0;
    for (; k + Depths <= depth; k += Depths) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Depths; ++i, x += depth_stride, w += w_stride)
        multiply_once(Strided{x, row_stride}, w);
    }
    if constexpr (Depths > 1)
      for (; k < depth; ++k, x += depth_stride, w += w_stride)
        multiply_once(Strided{x, row_stride}, w);
  }
  /// The same of rows that are anywhere in memory: x(r, k) = x[r][k].
  template <int Depths = 1, class W>
  PHYLLO_INLINE_ON_HOST void multiply_rows(T const* const (&x)[Rows], W const* w, long w_stride,
                                           int depth) {
    long k = 0;
    for (; k + Depths <= depth; k += Depths) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Depths; ++i, w += w_stride) multiply_once(OfRows{x, k + i}, w);
    }
    if constexpr (Depths > 1)
      for (; k < depth; ++k, w += w_stride) multiply_once(OfRows{x, k}, w);
  }
  /// The same of depths that are anywhere in memory: x(r, k) = x[k][first + r].
  template <int Depths = 1, class W>
  PHYLLO_INLINE_ON_HOST void multiply_columns(T const* const* x, long first, W const* w,
                                              long w_stride, int depth) {
    int k = 0;
    for (; k + Depths <= depth; k += Depths) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Depths; ++i, w += w_stride)
        multiply_once(Strided{x[k + i] + first, 1}, w);
    }
    if constexpr (Depths > 1)
      for (; k < depth; ++k, w += w_stride) multiply_once(Strided{x[k] + first, 1}, w);
  }

 private:
  // Number r of the left operand at one depth.
  struct Strided {
    T const* x;
    long row_stride;
    PHYLLO_INLINE_ON_HOST T operator()(int r) const { return x[r * row_stride]; }
  };
  struct OfRows {
    T const* const (&x)[Rows];
    long k;
    PHYLLO_INLINE_ON_HOST T operator()(int r) const { return x[r][k]; }
  };

  template <class Left, class W> PHYLLO_INLINE_ON_HOST void multiply_once(Left left, W const* w) {
    Vector<T> row[Vectors];
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) row[v] = load(w, v);
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      Vector<T> const factor = I::broadcast(left(r));
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) I::accumulate(sum[r][v], factor, row[v]);
    }
  }
};

/// Samples of a tile, and of which multiples of samples are computed: those behind the last one are
/// given zeros.
inline constexpr int tile_rows = 48;
inline constexpr int row_multiple = 12;
constexpr int padded_rows(int rows) {
  if (rows <= 2) return rows;  // these are computed one by one
  int const padded = (rows + row_multiple - 1) / row_multiple * row_multiple;
  return padded < tile_rows ? padded : tile_rows;
}

/// How a matrix of `columns` columns is cut: panels of vectors, and rows that fill the registers.
template <class T, int Columns> struct BlockShape {
  static constexpr int vectors = vectors_of<T>(Columns);
  static constexpr int widest = InstructionSet::registers >= 32 ? 4 : 2;  // vectors of a panel
  static constexpr int panels = (vectors + widest - 1) / widest;
  static constexpr int stride = vectors * lanes<T>;

  template <int Panel> static constexpr int first = Panel * vectors / panels;
  template <int Panel> static constexpr int width = (Panel + 1) * vectors / panels - first<Panel>;
  /// Lanes of the panel's last vector that belong to the matrix.
  template <int Panel>
  static constexpr int last = Panel + 1 == panels ? Columns - (vectors - 1) * lanes<T> : lanes<T>;

  /// Sums, a panel's row and one factor are in registers at once.
  static constexpr int most_rows(int width) {
    int const rows = (InstructionSet::registers - 1 - width) / width;
    return rows > 12 ? 12 : rows;
  }
  /// Samples of a block: a divisor of row_multiple, so that blocks of every width end together.
  static constexpr int sample_rows(int width) {
    int rows = most_rows(width);
    while (row_multiple % rows != 0) --rows;
    return rows;
  }
  /// Rows of a block when `count` rows are cut into equal blocks but for the last.
  static constexpr int rows(int width, int count) {
    int const blocks = (count + most_rows(width) - 1) / most_rows(width);
    return (count + blocks - 1) / blocks;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
