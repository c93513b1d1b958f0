// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/backend/host/gemm/product_epilogue.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The gradient of the input of a convolution at the positions of a grid: written, or added to what
/// is there.
template <class P> struct ScatterEpilogue {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr bool sums_columns = false;

  S* d_x = nullptr;  // (N, S, channels)
  long channels = 0;
  bool accumulate = false;
  PositionGrid reached;  // rows are its positions

  template <int Columns> A const* first(long, int, A (&)[Columns]) const { return nullptr; }
  // Where rows do not follow each other in memory, lines are asked for when they are stored to.
  void prefetch(long, int, long, int, int) const {}
  template <int Stride> void store(A* sums, long row, int rows, long column, int columns) const {
    PositionGrid::Cursor at(reached, row);
    for (int r = 0; r < rows; ++r, ++at) {
      S* const d = d_x + at.place() * channels + column;
      if (accumulate) add_numbers(d, columns, sums + r * Stride);
      store_numbers(sums + r * Stride, columns, d);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
