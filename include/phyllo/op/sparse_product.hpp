// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/sparse_rows.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// A sparse matrix times rows of channels: y[g, i, c] (+)= sum over j of a[i, j] x[g, j, c]. The
/// gradient of x is the same with the transposed matrix.
///
/// shape    a (M, M) · x, y (groups, M, C): N times positions are groups times M
/// numerics sums in the type of sums, in the order of a row's entries
/// cost     2 C operations and one read of C numbers an entry, one write of y; no atomics
struct SparseProduct {
  template <class Precision> struct Product {
    using storage = typename Precision::storage;
    SparseRows<typename Precision::accumulate> matrix;
    long groups = 0;
    int channels = 0;
    storage const* x = nullptr;
    storage* y = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
