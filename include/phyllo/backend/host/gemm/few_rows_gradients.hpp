// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/few_rows.hpp>
#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The gradient of the input of a layer of few samples: result (+)= left right^T. Rows of the right
/// operand, the layer's weights, are read once, where they stand. One work item: some of them.
///
/// shape    left (rows, depth) · right (columns, depth)^T -> (rows, columns)
/// numerics sums in A, in each lane of a vector in rising order of the depth, then over the lanes
/// cost     one read of the right operand
template <class S, class A> struct FewRowsInputGradient {
  static constexpr int columns_at_once = 4, rows_at_once = 2;  // sums in registers
  static constexpr int part = 2048 / int(sizeof(A));  // of the depth: all rows' in the first cache
  using Few = FewRows<A>;
  using I = InstructionSet;

  MatrixOperand<S, true> left;
  MatrixOperand<S, true> right;
  S* result = nullptr;
  bool accumulate = false;
  int rows = 0;
  long columns = 0;
  long depth = 0;
  int pieces = 1;

  void operator()(int piece) const {
    long const end = piece_begin(columns, columns_at_once, piece + 1, pieces);
    long c = piece_begin(columns, columns_at_once, piece, pieces);
    for (; c + columns_at_once <= end; c += columns_at_once) some<columns_at_once>(c);
    for (; c < end; ++c) some<1>(c);
  }

  void cut_for(int threads) {
    pieces = Few::pieces(threads, (columns + columns_at_once - 1) / columns_at_once,
                         double(rows) * double(columns) * double(depth));
  }

 private:
  // Sums of all rows by `Count` columns.
  template <int Count> void some(long column) const {
    alignas(64) A sum[few_rows * Count * lanes<A>];  // (rows, columns, lanes)
    long const whole = depth / lanes<A> * lanes<A>;
    for (long k = 0; k == 0 || k < whole; k += part) {
      int const deep = int(whole - k < part ? whole - k : part);
      int r = 0;
      for (; r + rows_at_once <= rows; r += rows_at_once)
        add<rows_at_once, Count>(r, column, k, deep, sum + r * Count * lanes<A>);
      for (; r < rows; ++r) add<1, Count>(r, column, k, deep, sum + r * Count * lanes<A>);
    }
    for (int r = 0; r < rows; ++r)
      for (int c = 0; c < Count; ++c) {
        A const* const from = sum + (r * Count + c) * lanes<A>;
        A total = 0;
        for (int l = 0; l < lanes<A>; ++l) total += from[l];
        for (long k = whole; k < depth; ++k)
          total += A(*left.at(r, k)) * A(*right.at(column + c, k));
        S& to = result[r * columns + column + c];
        to = S(accumulate ? A(to) + total : total);
      }
  }

  template <int Rows, int Count>
  static PHYLLO_INLINE_ON_HOST void load_or_zero(Vector<A> (&to)[Rows][Count], A const* from) {
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Count; ++c)
        to[r][c] = from == nullptr ? I::zero(A()) : I::load(from + (r * Count + c) * lanes<A>);
    }
  }

  template <int Rows, int Count> void add(int row, long column, long k, int deep, A* sums) const {
    Vector<A> sum[Rows][Count];
    load_or_zero(sum, k == 0 ? nullptr : sums);
    S const* x = left.at(row, k);
    S const* w = right.at(column, k);
    for (int i = 0; i < deep; i += lanes<A>, x += lanes<A>, w += lanes<A>) {
      Vector<A> of_row[Rows];
      PHYLLO_UNROLL_ON_HOST
      for (int r = 0; r < Rows; ++r) of_row[r] = I::load(x + r * left.stride);
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Count; ++c) {
        Vector<A> const of_column = I::load(w + c * right.stride);
        PHYLLO_UNROLL_ON_HOST
        for (int r = 0; r < Rows; ++r) sum[r][c] = I::multiply_add(of_row[r], of_column, sum[r][c]);
      }
    }
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < Rows; ++r) {
      PHYLLO_UNROLL_ON_HOST
      for (int c = 0; c < Count; ++c) I::store(sums + (r * Count + c) * lanes<A>, sum[r][c]);
    }
  }
};

/// The gradient of the weights of a layer of few samples: result = left^T right, whose depth is
/// their number. It is written once, row by row, nothing else passes through memory. One work item:
/// some rows.
///
/// shape    left (depth, rows)^T · right (depth, columns) -> (rows, columns)
/// numerics sums in A in rising order of the depth, as those of MatrixProduct
/// cost     one write of the result
template <class S, class A> struct FewRowsWeightGradient {
  using Few = FewRows<A>;
  static constexpr int width = Few::width;

  MatrixOperand<S, true> left;
  MatrixOperand<S, true> right;
  A* result = nullptr;
  A* column_sums = nullptr;  // (columns), or nullptr
  long rows = 0;
  long columns = 0;
  int depth = 0;
  int pieces = 1;

  void operator()(int piece) const {
    S rest[few_rows * width];  // of the last columns, which are fewer than a block's
    long const whole = columns / width * width;
    for (int i = 0; i < depth; ++i)
      for (int v = 0; v < width; ++v)
        rest[i * width + v] = whole + v < columns ? *right.at(i, whole + v) : S(A(0));
    long const end = piece_begin(rows, Few::rows, piece + 1, pieces);
    for (long r = piece_begin(rows, Few::rows, piece, pieces); r < end; r += Few::rows) {
      int const some = int(end - r < Few::rows ? end - r : Few::rows);
      A factor[few_rows * Few::rows];  // (depth, rows)
      for (int i = 0; i < depth; ++i)
        for (int q = 0; q < Few::rows; ++q)
          factor[i * Few::rows + q] = q < some ? A(*left.at(i, r + q)) : A(0);
      for (long c = 0; c < whole; c += width)
        multiply(r, some, c, width, factor, right.at(0, c), right.stride);
      if (whole < columns) multiply(r, some, whole, int(columns - whole), factor, rest, width);
    }
    if (column_sums != nullptr)
      add_columns(piece_begin(columns, width, piece, pieces),
                  piece_begin(columns, width, piece + 1, pieces));
  }

  void cut_for(int threads) {
    pieces = Few::pieces(threads, (rows + Few::rows - 1) / Few::rows,
                         double(rows) * double(columns) * double(depth));
  }

 private:
  void multiply(long row, int some, long column, int count, A const* factor, S const* from,
                long stride) const {
    typename Few::Block b;
    b.begin(static_cast<A const*>(nullptr));
    b.multiply(factor, 1, Few::rows, from, stride, depth);
    A* const to = result + row * columns + column;
    if (some == Few::rows && count == width) return b.store_rows(to, columns);
    alignas(64) A line[Few::rows * width];
    b.store_rows(line, width);
    for (int q = 0; q < some; ++q)
      for (int v = 0; v < count; ++v) to[q * columns + v] = line[q * width + v];
  }

  void add_columns(long begin, long end) const {
    for (long c = begin; c < end; ++c) column_sums[c] = A(0);
    for (int i = 0; i < depth; ++i)
      add_numbers(right.at(i, begin), int(end - begin), column_sums + begin);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
