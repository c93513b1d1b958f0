// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The innermost part of a matrix product in vector registers: the product of two packed panels.
///
/// shape    a panel of the left operand (rows, depth), of the right one (depth, columns)
/// numerics sums in A in rising order of the depth
/// source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
///          ACM TOMS 34 (2008) 12
template <class A, bool LeftByRows> struct VectorPanels {
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
  // In one turn of the innermost loop: short ones lose a tenth of the time to its counting.
  static constexpr int depths = many_registers ? 1 : 4;
  // Sums, then the left operand, fill about half of the second-level cache, 2 MiB where vectors
  // have 64 bytes. Elsewhere it has 512 KiB: the left operand fills half of it, and sums, which
  // pass once for each part of the depth, lie in the third-level one. Twice as large as where all
  // of it would fit the second-level cache: packing takes half of the time.
  static constexpr int block_rows = (InstructionSet::bytes == 64 ? 384 : 288) * 4 / int(sizeof(A));
  static constexpr int block_columns = 512;

  // Rows stand one after the other, or the depth does, as in memory, so that packing only copies.
  // A gap between rows lets them fall into different sets of the cache.
  static constexpr int row_stride = LeftByRows ? strip + 64 / int(sizeof(A)) : 1;
  static constexpr int depth_stride = LeftByRows ? 1 : rows;
  static constexpr long left_strip = LeftByRows ? long(rows) * row_stride : long(rows) * strip;
  static constexpr long right_strip = long(strip) * columns;

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
  /// rows and `wide` columns; first: (columns), or nullptr for zeros.
  static void multiply(int count, int wide, int deep, A const* left, A const* right, A* sums,
                       A const* first, bool fresh) {
    if (4 * wide <= columns)
      multiply_block<rows, (vectors + 3) / 4>(deep, left, right, sums, first, fresh);
    else if (2 * wide <= columns)
      multiply_block<rows, vectors / 2>(deep, left, right, sums, first, fresh);
    else if (4 * count <= rows)
      multiply_block<(rows + 3) / 4, vectors>(deep, left, right, sums, first, fresh);
    else if (2 * count <= rows)
      multiply_block<rows / 2, vectors>(deep, left, right, sums, first, fresh);
    else
      multiply_block<rows, vectors>(deep, left, right, sums, first, fresh);
  }

 private:
  // Never inlined: among the caller's variables GCC finds no registers for all sums.
  template <int Rows, int Vectors>
  PHYLLO_NOINLINE static void multiply_block(int deep, A const* left, A const* right, A* sums,
                                             A const* first, bool fresh) {
    RegisterBlock<A, Rows, Vectors, lanes<A>> block;
    if (fresh)
      block.begin(first);
    else
      block.load_rows(sums, columns);
    block.template multiply<depths>(left, row_stride, depth_stride, right, columns, deep);
    block.store_rows(sums, columns);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
