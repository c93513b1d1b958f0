// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/matrix_operand.hpp>
#include <phyllo/backend/host/kernels.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// epilogue(row right) of a single row: the right operand is read once, where it stands. One work
/// item: one run of columns.
///
/// shape    row (depth) · right (depth, columns)
/// numerics sums in A in rising order of the depth
/// cost     one read of the right operand
template <class S, class A, class Epilogue> struct RowProduct {
  static constexpr int vectors = 8;  // enough sums to hide the latency of a multiply-add
  static constexpr int width = vectors * lanes<A>;

  S const* row = nullptr;
  MatrixOperand<S, true> right;
  Epilogue epilogue;
  long columns = 0;
  long depth = 0;
  int pieces = 1;

  void operator()(int piece) const {
    long const units = (columns + width - 1) / width;
    long const end = units * (piece + 1) / pieces * width;
    long column = units * piece / pieces * width;
    for (; column + width <= (end < columns ? end : columns); column += width)
      block<vectors>(column);
    if (end < columns) return;
    for (; column + lanes<A> <= columns; column += lanes<A>) block<1>(column);
    if (column < columns) rest(column, int(columns - column));
  }

  /// Pieces for as many threads, none of them shorter than the start of a thread.
  void cut_for(int threads) {
    constexpr double fewest = 1 << 17;  // products
    double const most = double(columns) * double(depth) / fewest;
    long const units = (columns + width - 1) / width;
    pieces = threads < units ? threads : int(units);
    if (most < pieces) pieces = most < 1 ? 1 : int(most);
  }

 private:
  template <int Vectors> void block(long column) const {
    constexpr int count = Vectors * lanes<A>;
    alignas(64) A sums[count];
    RegisterBlock<A, 1, Vectors, lanes<A>> b;
    b.begin(epilogue.first(column, count, sums));
    if constexpr (std::is_same_v<S, A>) {
      b.multiply(row, 0, 1, right.at(0, column), right.stride, int(depth));
    } else {
      constexpr int most = 1024;  // numbers of the row that are widened at a time
      alignas(64) A line[most];
      for (long k = 0; k < depth; k += most) {
        int const deep = int(depth - k < most ? depth - k : most);
        for (int i = 0; i < deep; ++i) line[i] = A(row[k + i]);
        b.multiply(line, 0, 1, right.at(k, column), right.stride, deep);
      }
    }
    b.store_rows(sums, 0);
    epilogue.template store<count>(sums, 0, 1, column, count);
  }

  // Fewer columns than a vector has lanes.
  void rest(long column, int count) const {
    alignas(64) A sums[lanes<A>];
    A const* const first = epilogue.first(column, count, sums);
    for (int c = 0; c < count && first == nullptr; ++c) sums[c] = 0;
    for (long k = 0; k < depth; ++k)
      for (int c = 0; c < count; ++c) sums[c] += A(row[k]) * A(*right.at(k, column + c));
    epilogue.template store<lanes<A>>(sums, 0, 1, column, count);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
