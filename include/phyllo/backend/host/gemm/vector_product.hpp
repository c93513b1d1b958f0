// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/left_lines.hpp>
#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/gemm/taps_operand.hpp>
#include <phyllo/backend/host/gemm/vector_panels.hpp>
#include <phyllo/backend/host/gemm/window_operand.hpp>
#include <phyllo/backend/host/simd/vector_square.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A matrix product in vector registers: how panels of the right operand are packed.
///
/// numerics 16-bit numbers are widened when they are packed or copied
template <class A, class LeftOperand> struct VectorProduct : VectorPanels<A> {
  using Packed = A;
  using Sum = A;
  using Left = LeftOperand;
  using S = typename Left::value;
  using Panels = VectorPanels<A>;
  using Panels::columns;
  using LeftPart = LeftLines<A, Left, Panels>;

  struct Session {};  // nothing to set up

  static void multiply(int count, int wide, int deep, typename LeftPart::Panel const& left,
                       A const* right, A* sums, A const* first, bool fresh) {
    Panels::template multiply<Left::by_rows>(count, wide, deep, *left.lines, left.number, right,
                                             sums, first, fresh);
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
    for (; count > 0; count -= columns, column += columns, to += panel_size) {
      int const wide = count < columns ? count : columns;
      int const width = Panels::vectors_of_panel(wide) * lanes<A>;
      for (int i = 0; i < deep;) {
        int const tap = int((k + i) / from.outputs), o = int((k + i) % from.outputs);
        int const some = deep - i < from.outputs - o ? deep - i : from.outputs - o;
        pack_panel(from.tap(tap), o, some, column, wide, to + i * width);
        i += some;
      }
    }
  }

 private:
  // Whole vectors of columns, then the columns that are left over, then zeros.
  template <class Right>
  static void pack_panel(Right const& from, long k, int deep, long column, int count, A* to) {
    int const whole = count / lanes<A>, squared = Right::by_rows ? 0 : deep / lanes<A> * lanes<A>;
    int const width = Panels::vectors_of_panel(count) * lanes<A>;
    for (int i = 0; i < squared; i += lanes<A>)
      for (int v = 0; v < whole; ++v)
        pack_square(from, k + i, column + v * lanes<A>, to + i * width + v * lanes<A>, width);
    for (int i = 0; i < deep; ++i) {
      A* const line = to + i * width;
      int c = i < squared ? whole * lanes<A> : 0;
      if constexpr (Right::by_rows)
        for (S const* const at = from.at(k + i, column); c < whole * lanes<A>; c += lanes<A>)
          InstructionSet::store(line + c, InstructionSet::load(at + c));
      for (; c < count; ++c) line[c] = A(*from.at(k + i, column + c));
      for (; c % lanes<A> != 0; ++c) line[c] = A(0);
      for (; c < width; c += lanes<A>) InstructionSet::store(line + c, InstructionSet::zero(A()));
    }
  }

  // Depths by columns as columns by depths.
  template <class Right>
  static void pack_square(Right const& from, long k, long column, A* to, int width) {
    VectorSquare<A> square;
    PHYLLO_UNROLL_ON_HOST
    for (int c = 0; c < lanes<A>; ++c) square.row[c] = InstructionSet::load(from.at(k, column + c));
    square.transpose();
    PHYLLO_UNROLL_ON_HOST
    for (int c = 0; c < lanes<A>; ++c) InstructionSet::store(to + c * width, square.row[c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
