// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/product_epilogue.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// The gradient of a bias. One work item: some columns, all rows.
template <class P> struct sum_columns {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int together = 128;

  S const* d_z = nullptr;  // (rows, columns)
  A* sums = nullptr;       // (columns)
  long rows = 0;
  long columns = 0;

  void operator()(long item) const {
    long const first = item * together;
    if (columns - first < together)
      sum(first, int(columns - first));
    else
      sum(first, std::integral_constant<int, together>{});
  }
  long items() const { return (columns + together - 1) / together; }

 private:
  template <class Count> void sum(long first, Count count) const {
    alignas(64) A line[together] = {};
    for (long r = 0; r < rows; ++r) host::add_numbers(d_z + r * columns + first, count, line);
    for (int c = 0; c < count; ++c) sums[first + c] = line[c];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
