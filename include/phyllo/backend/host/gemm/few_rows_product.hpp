// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/few_rows.hpp>
#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// epilogue(left right) of few rows: the right operand is read once, where it stands, some of its
/// rows side by side, which hardware foresees. One work item: a run of columns.
///
/// shape    left (rows, depth) · right (depth, columns)
/// numerics sums in A in rising order of the depth, as those of MatrixProduct
/// cost     one read of the right operand; sums pass through the second-level cache once for every
///          `at_once` of its rows
template <class S, class A, class Epilogue> struct FewRowsProduct {
  using Few = FewRows<A>;
  static constexpr int width = Few::width;
  static constexpr int at_once = 16;  // rows of the right operand: streams of memory
  static constexpr long most_sums = long(product_bytes / 2 / sizeof(A));

  S const* left = nullptr;
  MatrixOperand<S, true> right;
  Epilogue epilogue;
  op::WorkMemory work;
  int rows = 0;
  long columns = 0;
  long depth = 0;
  int pieces = 1;

  void operator()(int piece) const {
    A* const sums = reinterpret_cast<A*>(work.slice(piece));
    long const end = piece_begin(columns, width, piece + 1, pieces);
    long const most = most_sums / Few::padded(rows) / width * width;
    for (long c = piece_begin(columns, width, piece, pieces); c < end; c += most)
      for (long k = 0; k == 0 || k < depth; k += at_once)
        add(c, int(end - c < most ? end - c : most), k, sums);
  }

  void cut_for(int threads) {
    pieces = Few::pieces(threads, (columns + width - 1) / width,
                         double(rows) * double(columns) * double(depth));
  }

 private:
  // The products of some rows of the right operand, `count` columns of each.
  void add(long column, int count, long k, A* sums) const {
    int const deep = int(depth - k < at_once ? depth - k : at_once);
    int const padded = Few::padded(rows), pitch = (count + width - 1) / width * width;
    A factor[at_once * few_rows];  // (deep, padded rows)
    for (int i = 0; i < deep; ++i)
      for (int r = 0; r < padded; ++r)
        factor[i * few_rows + r] = r < rows ? A(left[r * depth + k + i]) : A(0);
    for (int c = 0; c < count; c += width) {
      S rest[at_once * width];  // of the last columns, which are fewer than a block's
      int const some = count - c < width ? count - c : width;
      S const* from = right.at(k, column + c);
      long stride = right.stride;
      if (some < width) {
        for (int i = 0; i < deep; ++i)
          for (int v = 0; v < width; ++v)
            rest[i * width + v] = v < some ? from[i * stride + v] : S(A(0));
        from = rest;
        stride = width;
      }
      for (int r = 0; r < padded; r += Few::rows)
        multiply(r, column + c, some, k, deep, factor + r, from, stride, sums + r * pitch + c,
                 pitch);
    }
  }

  void multiply(int row, long column, int count, long k, int deep, A const* factor, S const* from,
                long stride, A* sums, int pitch) const {
    typename Few::Block b;
    alignas(64) A line[width], block[Few::rows * width];
    if (k == 0)
      b.begin(epilogue.first(column, count, line));
    else
      b.load_rows(sums, pitch);
    b.multiply(factor, 1, few_rows, from, stride, deep);
    if (k + deep < depth) return b.store_rows(sums, pitch);
    b.store_rows(block, width);
    epilogue.template store<width>(block, row, rows - row < Few::rows ? rows - row : Few::rows,
                                   column, count);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
