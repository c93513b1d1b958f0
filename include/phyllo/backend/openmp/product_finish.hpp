// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/op/contraction.hpp>

#include <cmath>

namespace phyllo::openmp {

/// What becomes of the sums of a forward pass: folded normalisation, what the backward pass needs,
/// pointwise chain.
template <class Chain, class P> class ForwardFinish {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Work = typename op::Contraction<Chain>::template Forward<P>;

 public:
  static constexpr bool sums_columns = false;

  explicit ForwardFinish(Work const& work)
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

  /// A block of sums (rows, stride), whose first row and column are `row` and `column`.
  void operator()(A* sums, int stride, long row, int rows, long column, int columns) const {
    if (fold_.mean != nullptr) fold(sums, stride, rows, column, columns);
    for (int r = 0; r < rows; ++r) {
      A* const z = sums + r * stride;
      S* const y = y_ + (row + r) * outputs_ + column;
      if (saved_ != nullptr) {
        S* const saved = saved_ + (row + r) * outputs_ + column;
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c) saved[c] = S(z[c]);
      }
      if constexpr (Chain::random) {
        int const sample = int((row + r) / positions_);
        int const first = int((row + r) % positions_ * outputs_ + column);
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c)
          y[c] = S(Chain::value(z[c], random_.element(sample, first + c)));
      } else {
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c) y[c] = S(Chain::value(z[c], Element{}));
      }
    }
  }

 private:
  void fold(A* sums, int stride, int rows, long column, int columns) const {
    for (int c = 0; c < columns; ++c) {
      A const mean = A(fold_.mean[column + c]);
      A const deviation = std::sqrt(A(fold_.variance[column + c]) + A(fold_.epsilon));
      A const scale = A(fold_.scale[column + c]), shift = A(fold_.shift[column + c]);
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
template <class P> struct BackwardFinish {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr bool sums_columns = false;

  S* d_x = nullptr;  // (rows, channels)
  long channels = 0;
  bool accumulate = false;

  template <int Columns> A const* first(long, int, A (&)[Columns]) const { return nullptr; }
  void operator()(A* sums, int stride, long row, int rows, long column, int columns) const {
    for (int r = 0; r < rows; ++r) {
      A const* const sum = sums + r * stride;
      S* const d = d_x + (row + r) * channels + column;
      if (accumulate) {
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c) d[c] = S(A(d[c]) + sum[c]);
      } else {
        PHYLLO_SIMD(16)
        for (int c = 0; c < columns; ++c) d[c] = S(sum[c]);
      }
    }
  }
};

/// The gradient of the weights; that of the bias is the sum of the right operand's columns.
template <class P> struct ParametersFinish {
  using A = typename P::accumulate;
  static constexpr bool sums_columns = true;

  A* d_weight = nullptr;  // (depth, outputs)
  long outputs = 0;
  A* column_sums = nullptr;  // (outputs), or nullptr

  template <int Columns> A const* first(long, int, A (&)[Columns]) const { return nullptr; }
  void operator()(A* sums, int stride, long row, int rows, long column, int columns) const {
    for (int r = 0; r < rows; ++r) {
      A const* const sum = sums + r * stride;
      A* const d = d_weight + (row + r) * outputs + column;
      PHYLLO_SIMD(16)
      for (int c = 0; c < columns; ++c) d[c] = sum[c];
    }
  }
};

}  // namespace phyllo::openmp
