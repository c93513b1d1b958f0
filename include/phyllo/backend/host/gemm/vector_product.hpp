// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/gemm/taps_operand.hpp>
#include <phyllo/backend/host/gemm/vector_panels.hpp>
#include <phyllo/backend/host/gemm/window_operand.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// A matrix product in vector registers: how panels of the two operands are packed.
///
/// numerics 16-bit numbers are widened when they are packed
template <class A, class LeftOperand> struct VectorProduct : VectorPanels<A, LeftOperand::by_rows> {
  using Packed = A;
  using Sum = A;
  using Left = LeftOperand;
  using S = typename Left::value;
  using Panels = VectorPanels<A, Left::by_rows>;
  using Panels::columns, Panels::rows, Panels::row_stride, Panels::vectors;

  struct Session {};  // nothing to set up

  /// A strip of rows [row, row + count), panel by panel, `panel_size` apart: depths [k, k + deep);
  /// the last panel's rows up to `rows` are zeros.
  static void pack_left(Left const& from, long row, int count, long k, int deep, A* to,
                        long panel_size) {
    int const panels = (count + rows - 1) / rows;
    if constexpr (Left::by_rows) {
      typename Left::Lines lines(from, row, k, deep);
      for (int r = 0; r < panels * rows; ++r) {
        A* const line = to + r / rows * panel_size + r % rows * row_stride;
        if (r < count)
          lines.copy_next(line);
        else
          std::memset(static_cast<void*>(line), 0, sizeof(A) * std::size_t(deep));
      }
    } else {
      // Some panels at a time, so that a line of memory is not fetched again for each of them.
      constexpr int at_a_time = 8, v = vectors_of<A>(rows);
      for (int p = 0; p < panels; p += at_a_time, to += at_a_time * panel_size) {
        int const some = panels - p < at_a_time ? panels - p : at_a_time;
        int const inside = count - p * rows < some * rows ? count - p * rows : some * rows;
        typename Left::Lines lines(from, k, row + p * rows, inside);
        S room[at_a_time * rows + InstructionSet::bytes / int(sizeof(S))];
        for (int i = 0; i < deep; ++i) {
          S const* const line = lines.next(room);
          for (int q = 0; q < inside / rows; ++q) {
            RegisterBlock<A, 1, v, rows - (v - 1) * lanes<A>> one;
            one.begin(line + q * rows);
            one.store_rows(to + q * panel_size + i * rows, 0);
          }
          for (int r = inside / rows * rows; r < some * rows; ++r)
            to[r / rows * panel_size + i * rows + r % rows] = r < inside ? A(line[r]) : A(0);
        }
      }
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

  /// The same of the weights of some taps, tap by tap.
  static void pack_right(TapsOperand<S> const& from, long k, int deep, long column, int count,
                         A* to, long panel_size) {
    for (int i = 0; i < deep;) {
      int const tap = int((k + i) / from.outputs), o = int((k + i) % from.outputs);
      int const some = deep - i < from.outputs - o ? deep - i : from.outputs - o;
      pack_right(from.tap(tap), o, some, column, count, to + i * columns, panel_size);
      i += some;
    }
  }

 private:
  // Whole vectors of columns, then the columns that are left over, then zeros.
  template <class Right>
  static void pack_panel(Right const& from, long k, int deep, long column, int count, A* to) {
    int const whole = count / lanes<A>, squared = Right::by_rows ? 0 : deep / lanes<A> * lanes<A>;
    for (int i = 0; i < squared; i += lanes<A>)
      for (int v = 0; v < whole; ++v)
        pack_square(from, k + i, column + v * lanes<A>, to + i * columns + v * lanes<A>);
    for (int i = 0; i < deep; ++i) {
      A* const line = to + i * columns;
      int c = i < squared ? whole * lanes<A> : 0;
      if constexpr (Right::by_rows)
        for (S const* const at = from.at(k + i, column); c < whole * lanes<A>; c += lanes<A>)
          InstructionSet::store(line + c, InstructionSet::load(at + c));
      for (; c < count; ++c) line[c] = A(*from.at(k + i, column + c));
      for (; c % lanes<A> != 0; ++c) line[c] = A(0);
      for (; c < columns; c += lanes<A>) InstructionSet::store(line + c, InstructionSet::zero(A()));
    }
  }

  // Depths by columns as columns by depths.
  template <class Right> static void pack_square(Right const& from, long k, long column, A* to) {
    VectorSquare<A> square;
    PHYLLO_UNROLL_ON_HOST
    for (int c = 0; c < lanes<A>; ++c) square.row[c] = InstructionSet::load(from.at(k, column + c));
    square.transpose();
    PHYLLO_UNROLL_ON_HOST
    for (int c = 0; c < lanes<A>; ++c) InstructionSet::store(to + c * columns, square.row[c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
