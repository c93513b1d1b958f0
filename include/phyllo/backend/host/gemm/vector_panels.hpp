// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/line_addresses.hpp>
#include <phyllo/backend/host/simd/register_block.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The innermost part of a matrix product in vector registers: the product of a panel of the left
/// operand, whose lines are anywhere in memory, and a packed one of the right operand.
///
/// shape    a panel of the left operand (rows, depth), of the right one (depth, columns)
/// numerics sums in A in rising order of the depth; of a left operand by columns, whose depth is
///          the batch, in parts that are added to each other
/// source   Goto and van de Geijn, "Anatomy of High-Performance Matrix Multiplication",
///          ACM TOMS 34 (2008) 12
template <class A> struct VectorPanels {
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

  static constexpr long right_strip = long(strip) * columns;

  /// Vectors of a packed panel of so many columns. A line with a gap behind it would use a part of
  /// the sets of the first-level cache only.
  static constexpr int vectors_of_panel(int wide) {
    return 4 * wide <= columns ? (vectors + 3) / 4 : 2 * wide <= columns ? vectors / 2 : vectors;
  }

  /// sums(c) += the packed numbers of column c < wide in rising order of the depth.
  static void add_columns(A const* right, int deep, int wide, A* sums) {
    int const used = vectors_of_panel(wide);
    for (int i = 0; i < deep; ++i)
      for (int v = 0; v < used; ++v, right += lanes<A>)
        InstructionSet::store(sums + v * lanes<A>,
                              InstructionSet::add(InstructionSet::load(sums + v * lanes<A>),
                                                  InstructionSet::load(right)));
  }

  /// sums (rows, columns) = first + left right, or += where they are not `fresh`; at least `count`
  /// rows and `wide` columns; first: (columns), or nullptr for zeros. By rows or by columns, as the
  /// left operand has its lines.
  template <bool ByRows>
  static void multiply(int count, int wide, int deep,
                       LineAddresses<A, ByRows, VectorPanels> const& lines, int panel,
                       A const* right, A* sums, A const* first, bool fresh) {
    int const used = vectors_of_panel(wide);
    if (used == (vectors + 3) / 4)
      multiply_block<ByRows, rows, (vectors + 3) / 4>(deep, lines, panel, right, sums, first,
                                                      fresh);
    else if (used == vectors / 2)
      multiply_block<ByRows, rows, vectors / 2>(deep, lines, panel, right, sums, first, fresh);
    else if (4 * count <= rows)
      multiply_block<ByRows, (rows + 3) / 4, vectors>(deep, lines, panel, right, sums, first,
                                                      fresh);
    else if (2 * count <= rows)
      multiply_block<ByRows, rows / 2, vectors>(deep, lines, panel, right, sums, first, fresh);
    else
      multiply_block<ByRows, rows, vectors>(deep, lines, panel, right, sums, first, fresh);
  }

 private:
  // Never inlined: among the caller's variables GCC finds no registers for all sums.
  template <bool ByRows, int Rows, int Vectors>
  PHYLLO_NOINLINE static void multiply_block(int deep,
                                             LineAddresses<A, ByRows, VectorPanels> const& lines,
                                             int panel, A const* right, A* sums, A const* first,
                                             bool fresh) {
    constexpr int width = Vectors * lanes<A>;
    RegisterBlock<A, Rows, Vectors, lanes<A>> block;
    if (fresh || !ByRows)
      block.begin(fresh ? first : nullptr);
    else
      block.load_rows(sums, columns);
    if (!fresh && !ByRows)  // they are read at the end
      for (int r = 0; r < Rows; ++r)
        for (int c = 0; c < Vectors * lanes<A>; c += 64 / int(sizeof(A)))
          __builtin_prefetch(sums + r * columns + c, 1);
    if constexpr (ByRows) {
      for (int run = 0; run < lines.runs(); ++run) {
        A const* const* const at = lines.at(run) + panel * rows;
        A const* row[Rows];
        PHYLLO_UNROLL_ON_HOST
        for (int r = 0; r < Rows; ++r) row[r] = at[r];
        block.template multiply_rows<depths>(row, right + lines.begin(run) * width, width,
                                             lines.begin(run + 1) - lines.begin(run));
      }
    } else if (A const* const left = lines.packed(panel)) {
      block.template multiply<depths>(left, 1, rows, right, width, deep);
    } else {
      int const run = lines.run_of(panel);
      block.template multiply_columns<depths>(lines.at(run), lines.first_of(panel, run), right,
                                              width, deep);
    }
    if (fresh || ByRows)
      block.store_rows(sums, columns);
    else
      block.add_rows_to(sums, columns);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
