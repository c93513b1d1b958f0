// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/matrix_operand.hpp>
#include <phyllo/backend/openmp/register_block.hpp>
#include <phyllo/backend/openmp/vector_square.hpp>

#include <cstring>

namespace phyllo::openmp {

/// The innermost part of a matrix product in vector registers: how panels of the two operands are
/// packed, and the product of two panels.
///
/// shape    a panel of the left operand (rows, depth), of the right one (depth, columns)
/// numerics sums in A in rising order of the depth; 16-bit numbers are widened when they are packed
/// source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
///          ACM TOMS 34 (2008) 12
template <class S, class A, bool LeftByRows> struct VectorProduct {
  using Packed = A;
  using Sum = A;
  using Left = MatrixOperand<S, LeftByRows>;
  static constexpr int vectors = 2;
  static constexpr int rows = BlockShape<A, 1>::most_rows(vectors);
  static constexpr int columns = vectors * lanes<A>;
  static constexpr int depth = 256;  // a panel of the right operand is 2/3 of the first-level cache
  // Sums, then the left operand, fill about half of the second-level cache: 2 MiB where vectors
  // have 64 bytes, and 512 KiB elsewhere.
  static constexpr int block_rows = (InstructionSet::bytes == 64 ? 384 : 144) * 4 / int(sizeof(A));
  static constexpr int block_columns = InstructionSet::bytes == 64 ? 512 : 256;

  // Rows stand one after the other, or the depth does, as in memory, so that packing only copies.
  // A gap between rows lets them fall into different sets of the cache.
  static constexpr int row_stride = LeftByRows ? depth + 64 / int(sizeof(A)) : 1;
  static constexpr int depth_stride = LeftByRows ? 1 : rows;
  static constexpr long left_size = LeftByRows ? long(rows) * row_stride : long(rows) * depth;
  static constexpr long right_size = long(depth) * columns;

  struct Session {};  // nothing to set up

  /// Rows [row, row + count) and depths [k, k + deep); rows up to `rows` are zeros.
  static void pack_left(Left const& from, long row, int count, long k, int deep, A* to) {
    using Line =
        RegisterBlock<A, 1, vectors_of<A>(rows), rows - (vectors_of<A>(rows) - 1) * lanes<A>>;
    if constexpr (LeftByRows) {
      for (int r = 0; r < rows; ++r)
        if (r < count)
          widen(from.at(row + r, k), deep, to + r * row_stride);
        else
          std::memset(static_cast<void*>(to + r * row_stride), 0, sizeof(A) * std::size_t(deep));
    } else if (count == rows) {
      for (int i = 0; i < deep; ++i) {
        Line line;
        line.begin(from.at(row, k + i));
        line.store_rows(to + i * rows, 0);
      }
    } else {
      for (int i = 0; i < deep; ++i)
        for (int r = 0; r < rows; ++r)
          to[i * rows + r] = r < count ? A(*from.at(row + r, k + i)) : A(0);
    }
  }

  /// Depths [k, k + deep) of columns [column, column + count); columns up to `columns` are zeros.
  template <class Right>
  static void pack_right(Right const& from, long k, int deep, long column, int count, A* to) {
    int i = 0;
    if (count == columns) {
      if constexpr (Right::by_rows) {
        using Line = RegisterBlock<A, 1, vectors, lanes<A>>;
        for (; i < deep; ++i) {
          Line line;
          line.begin(from.at(k + i, column));
          line.store_rows(to + i * columns, 0);
        }
      } else {
        for (; i + lanes<A> <= deep; i += lanes<A>)
          for (int v = 0; v < vectors; ++v) {
            VectorSquare<A> square;
            PHYLLO_UNROLL
            for (int c = 0; c < lanes<A>; ++c)
              square.row[c] = InstructionSet::load(from.at(k + i, column + v * lanes<A> + c));
            square.transpose();
            PHYLLO_UNROLL
            for (int c = 0; c < lanes<A>; ++c)
              InstructionSet::store(to + (i + c) * columns + v * lanes<A>, square.row[c]);
          }
      }
    }
    for (; i < deep; ++i)
      for (int c = 0; c < columns; ++c)
        to[i * columns + c] = c < count ? A(*from.at(k + i, column + c)) : A(0);
  }

  /// sums(c) += the packed numbers of column c in rising order of the depth.
  static void add_columns(A const* right, int deep, A* sums) {
    RegisterBlock<A, 1, vectors, lanes<A>> block;
    block.load_rows(sums, 0);
    for (int i = 0; i < deep; ++i)
      for (int v = 0; v < vectors; ++v)
        block.sum[0][v] = InstructionSet::add(block.sum[0][v], block.load(right + i * columns, v));
    block.store_rows(sums, 0);
  }

  /// sums (rows, columns) = first + left right, or += where they are not `fresh`; at least `count`
  /// rows; first: (columns), or nullptr for zeros.
  static void multiply(int count, int deep, A const* left, A const* right, A* sums, A const* first,
                       bool fresh) {
    if (4 * count <= rows)
      multiply_rows<(rows + 3) / 4>(deep, left, right, sums, first, fresh);
    else if (2 * count <= rows)
      multiply_rows<rows / 2>(deep, left, right, sums, first, fresh);
    else
      multiply_rows<rows>(deep, left, right, sums, first, fresh);
  }

 private:
  template <int Rows>
  static void multiply_rows(int deep, A const* left, A const* right, A* sums, A const* first,
                            bool fresh) {
    RegisterBlock<A, Rows, vectors, lanes<A>> block;
    if (fresh)
      block.begin(first);
    else
      block.load_rows(sums, columns);
    block.multiply(left, row_stride, depth_stride, right, columns, deep);
    block.store_rows(sums, columns);
  }

  static void widen(S const* from, int count, A* to) {
    int i = 0;
    for (; i + lanes<A> <= count; i += lanes<A>)
      InstructionSet::store(to + i, InstructionSet::load(from + i));
    for (; i < count; ++i) to[i] = A(from[i]);
  }
};

}  // namespace phyllo::openmp
