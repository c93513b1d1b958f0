// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/contraction.hpp>

#include <cmath>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Asks for the lines that rows of a result will be stored to, `part` of `parts` of the rows at a
/// time: their pages and lines are far apart.
template <class S>
PHYLLO_INLINE_ON_HOST void prefetch_rows(S* result, long stride, long row, int rows, long column,
                                         int part, int parts) {
  S* const at = result + row * stride + column;
  for (int r = rows * part / parts; r < rows * (part + 1) / parts; ++r)
    __builtin_prefetch(at + r * stride, 1);
}

/// What becomes of the sums of a forward pass: folded normalisation, what the backward pass needs,
/// pointwise chain.
template <class Chain, class P> class ForwardEpilogue {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Work = typename op::Contraction<Chain>::template Forward<P>;

 public:
  static constexpr bool sums_columns = false;

  explicit ForwardEpilogue(Work const& work)
      : bias_(work.bias),
        fold_(work.fold),
        y_(work.y),
        saved_(work.saved),
        random_(work.random),
        outputs_(work.output.channels),
        positions_(work.output.positions()) {}

  /// What the sums of these columns begin with; the line's columns behind them are zeros.
  template <int Columns> A const* first(long column, int count, A (&line)[Columns]) const {
    if (bias_ == nullptr) return nullptr;
    for (int c = 0; c < Columns; ++c) line[c] = c < count ? A(bias_[column + c]) : A(0);
    return line;
  }

  void prefetch(long row, int rows, long column, int part, int parts) const {
    prefetch_rows(y_, outputs_, row, rows, column, part, parts);
  }

  /// A block of sums (rows, Stride), whose first row and column are `row` and `column`.
  template <int Stride> void store(A* sums, long row, int rows, long column, int columns) const {
    if (columns == Stride)  // a count that the compiler knows
      finish<Stride>(sums, row, rows, column, std::integral_constant<int, Stride>{});
    else
      finish<Stride>(sums, row, rows, column, columns);
  }

 private:
  template <int Stride, class Count>
  void finish(A* sums, long row, int rows, long column, Count columns) const {
    if (fold_.mean != nullptr) fold(sums, Stride, rows, column, columns);
    for (int r = 0; r < rows; ++r) {
      A* const z = sums + r * Stride;
      if (saved_ != nullptr) store_numbers(z, columns, saved_ + (row + r) * outputs_ + column);
      if constexpr (Chain::random) {
        int const sample = int((row + r) / positions_);
        int const first = int((row + r) % positions_ * outputs_ + column);
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c)
          z[c] = Chain::value(z[c], random_.element(sample, first + c));
      } else if constexpr (Chain::length > 0) {
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c) z[c] = Chain::value(z[c], Element{});
      }
      store_numbers(z, columns, y_ + (row + r) * outputs_ + column);
    }
  }

  void fold(A* sums, int stride, int rows, long column, int columns) const {
    for (int c = 0; c < columns; ++c) {
      A const mean = A(fold_.mean[column + c]);
      A const deviation = std::sqrt(A(fold_.variance[column + c]) + fold_.epsilon);
      A const scale = op::scale_at<A>(fold_.scale, column + c);
      A const shift = op::shift_at<A>(fold_.shift, column + c);
      for (int r = 0; r < rows; ++r) {
        A& z = sums[r * stride + c];
        z = (z - mean) / deviation * scale + shift;
      }
    }
  }

  S const* bias_;
  op::FoldedNormalization<P> fold_;
  S* y_;
  S* saved_;
  Randomness random_;
  long outputs_;
  long positions_;
};

/// The gradient of the input: written, or added to what is there.
template <class P> struct BackwardEpilogue {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr bool sums_columns = false;

  S* d_x = nullptr;  // (rows, channels)
  long channels = 0;
  bool accumulate = false;

  template <int Columns> A const* first(long, int, A (&)[Columns]) const { return nullptr; }
  void prefetch(long row, int rows, long column, int part, int parts) const {
    prefetch_rows(d_x, channels, row, rows, column, part, parts);
  }
  template <int Stride> void store(A* sums, long row, int rows, long column, int columns) const {
    for (int r = 0; r < rows; ++r) {
      S* const d = d_x + (row + r) * channels + column;
      if (accumulate) add_numbers(d, columns, sums + r * Stride);
      store_numbers(sums + r * Stride, columns, d);
    }
  }
};

/// The gradient of the weights; that of the bias is the sum of the right operand's columns.
template <class P> struct ParametersEpilogue {
  using A = typename P::accumulate;
  static constexpr bool sums_columns = true;

  A* d_weight = nullptr;  // (depth, outputs)
  long outputs = 0;
  A* column_sums = nullptr;  // (outputs), or nullptr

  template <int Columns> A const* first(long, int, A (&)[Columns]) const { return nullptr; }
  void prefetch(long row, int rows, long column, int part, int parts) const {
    prefetch_rows(d_weight, outputs, row, rows, column, part, parts);
  }
  template <int Stride> void store(A* sums, long row, int rows, long column, int columns) const {
    for (int r = 0; r < rows; ++r)
      store_numbers(sums + r * Stride, columns, d_weight + (row + r) * outputs + column);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
