// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::op {

/// Where the matrix of sample n and head h begins in memory, and how it goes on.
struct MatrixPlace {
  long sample = 0;
  int head = 0, row = 0, column = 0;  // elements to the next one

  PHYLLO_FUNCTION long at(long n, int h, int i, int j) const {
    return n * sample + long(h) * head + long(i) * row + long(j) * column;
  }
};

/// Products of matrices, one for each sample and head: y = factor a b, or y + factor a b.
///
/// shape    a (N, heads, rows, depth) · b (N, heads, depth, columns) · y (N, heads, rows, columns),
///          each at its MatrixPlace
/// options  causal: columns behind the row are -infinity · mask (N, columns): so are those where it
///          is not zero
/// numerics sums in rising order of the depth, in the accumulation type
/// cost     2 N heads rows columns depth flop
struct Product {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    int heads = 0, rows = 0, columns = 0, depth = 0;
    typename Precision::accumulate factor = 1;
    storage const* a = nullptr;
    storage const* b = nullptr;
    storage* y = nullptr;
    MatrixPlace a_place, b_place, y_place;
    bool causal = false;
    std::int32_t const* mask = nullptr;
    bool accumulate = false;

    PHYLLO_FUNCTION bool ignores(long n, int i, int j) const {
      return (causal && j > i) || (mask != nullptr && mask[n * columns + j] != 0);
    }
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
