// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/general_convolution.hpp>

#include <cmath>

namespace phyllo::inline PHYLLO_ISA::host {

/// What becomes of the sums of a convolution, row by row; rows are the positions of a grid in the
/// result.
template <class Chain, class P> struct ConvolutionEpilogue {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr bool sums_columns = false;

  op::ConvolutionResult<P> result;
  PositionGrid reached;    // in the result
  long channels = 0;       // of a position there
  long first_channel = 0;  // of the group
  long positions = 1;      // of a sample

  /// What the sums of these columns begin with; the line's columns behind them are zeros.
  template <int Columns> A const* first(long column, int count, A (&line)[Columns]) const {
    if (result.bias == nullptr) return nullptr;
    for (int c = 0; c < Columns; ++c)
      line[c] = c < count ? A(result.bias[first_channel + column + c]) : A(0);
    return line;
  }
  // Lines are asked for when they are stored to.
  void prefetch(long, int, long, int, int) const {}
  template <int Stride> void store(A* sums, long row, int rows, long column, int columns) const {
    PositionGrid::Cursor at(reached, row);
    for (int r = 0; r < rows; ++r, ++at) finish(sums + r * Stride, at.place(), column, columns);
  }

  /// Whether sums are results as they are.
  bool only_stores() const {
    return Chain::length == 0 && !result.accumulate && result.fold.mean == nullptr &&
           result.saved == nullptr;
  }
  /// Sums of the channels [column, column + columns) of a position.
  void finish(A* z, long place, long column, int columns) const {
    long const channel = first_channel + column, element = place * channels + channel;
    if (result.accumulate) {
      add_numbers(result.y + element, columns, z);
      return store_numbers(z, columns, result.y + element);
    }
    if (result.fold.mean != nullptr)
      for (int c = 0; c < columns; ++c) {
        auto const& fold = result.fold;
        z[c] = (z[c] - A(fold.mean[channel + c])) /
                   std::sqrt(A(fold.variance[channel + c]) + fold.epsilon) *
                   op::scale_at<A>(fold.scale, channel + c) +
               op::shift_at<A>(fold.shift, channel + c);
      }
    if (result.saved != nullptr) store_numbers(z, columns, result.saved + element);
    if constexpr (Chain::random) {
      int const sample = int(place / positions);
      int const index = int(place % positions * channels + channel);
      PHYLLO_SIMD(16)
      for (int c = 0; c < columns; ++c)
        z[c] = Chain::value(z[c], result.random.element(sample, index + c));
    } else if constexpr (Chain::length > 0) {
      PHYLLO_SIMD(16)
      for (int c = 0; c < columns; ++c) z[c] = Chain::value(z[c], Element{});
    }
    store_numbers(z, columns, result.y + element);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
