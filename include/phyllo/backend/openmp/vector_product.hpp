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
  static constexpr bool many_registers = InstructionSet::registers >= 32;
  static constexpr int vectors = many_registers ? 4 : 2;
  static constexpr int rows = BlockShape<A, 1>::most_rows(vectors);
  static constexpr int columns = vectors * lanes<A>;
  // A strip of the right operand is two thirds of the first-level cache, or half of a small one.
  static constexpr int strip = many_registers ? 128 : 256;
  static constexpr int strips = 1;
  static constexpr int depth = strip * strips;
  static constexpr int group = 4;     // panels of the left operand by one strip of the right one
  static constexpr int together = 1;  // panels of the right operand that are packed at a time
  // Sums, then the left operand, fill about half of the second-level cache: 2 MiB where vectors
  // have 64 bytes, and 512 KiB elsewhere.
  static constexpr int block_rows = (InstructionSet::bytes == 64 ? 384 : 144) * 4 / int(sizeof(A));
  static constexpr int block_columns = InstructionSet::bytes == 64 ? 512 : 256;

  // Rows stand one after the other, or the depth does, as in memory, so that packing only copies.
  // A gap between rows lets them fall into different sets of the cache.
  static constexpr int row_stride = LeftByRows ? strip + 64 / int(sizeof(A)) : 1;
  static constexpr int depth_stride = LeftByRows ? 1 : rows;
  static constexpr long left_strip = LeftByRows ? long(rows) * row_stride : long(rows) * strip;
  static constexpr long right_strip = long(strip) * columns;

  struct Session {};  // nothing to set up

  /// A strip of rows [row, row + count), panel by panel, `panel_size` apart: depths [k, k + deep);
  /// the last panel's rows up to `rows` are zeros.
  static void pack_left(Left const& from, long row, int count, long k, int deep, A* to,
                        long panel_size) {
    int const panels = (count + rows - 1) / rows, whole = count / rows;
    if constexpr (LeftByRows) {
      for (int r = 0; r < panels * rows; ++r) {
        A* const line = to + r / rows * panel_size + r % rows * row_stride;
        if (r < count)
          widen(from.at(row + r, k), deep, line);
        else
          std::memset(static_cast<void*>(line), 0, sizeof(A) * std::size_t(deep));
      }
    } else {
      // Some panels at a time, lest a line of memory is fetched for each of them anew.
      constexpr int at_a_time = 8, v = vectors_of<A>(rows);
      for (int p = 0; p < whole; p += at_a_time) {
        int const end = p + at_a_time < whole ? p + at_a_time : whole;
        for (int i = 0; i < deep; ++i)
          for (int q = p; q < end; ++q) {
            RegisterBlock<A, 1, v, rows - (v - 1) * lanes<A>> line;
            line.begin(from.at(row + q * rows, k + i));
            line.store_rows(to + q * panel_size + i * rows, 0);
          }
      }
      for (int i = 0; i < deep && whole < panels; ++i)
        for (int r = 0; r < rows; ++r)
          to[whole * panel_size + i * rows + r] =
              whole * rows + r < count ? A(*from.at(row + whole * rows + r, k + i)) : A(0);
    }
  }

  /// A strip of columns [column, column + count), panel by panel, `panel_size` apart: depths
  /// [k, k + deep); the last panel's columns up to `columns` are zeros.
  template <class Right>
  static void pack_right(Right const& from, long k, int deep, long column, int count, A* to,
                         long panel_size) {
    for (; count > 0; count -= columns, column += columns, to += panel_size)
      pack_panel(from, k, deep, column, count < columns ? count : columns, to);
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
  template <class Right>
  static void pack_panel(Right const& from, long k, int deep, long column, int count, A* to) {
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
