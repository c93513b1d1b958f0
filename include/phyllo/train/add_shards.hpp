// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Adds sums of shards, one after the other, to the rows of those before, in the order of a
/// ShardTree. One work item: Run elements of all rows.
///
/// shape    source (count, at least size) · rows (.., at least size) · result (size)
template <class A, int Most, int Run> struct AddShards {
  static constexpr int run = Run;

  A const* source = nullptr;
  long source_stride = 0;
  A* rows = nullptr;  // may be source, where none stand before
  long stride = 0;
  A* result = nullptr;  // where the last sum goes instead; nullptr: it stays in its row
  long size = 0;
  int count = 0;
  int before = 0;  // rows that hold sums already
  unsigned char merges[Most] = {};

  KOKKOS_FUNCTION void operator()(int item) const {
    long const first = long(item) * Run, last = first + Run < size ? first + Run : size;
    int row = before;
    for (int s = 0; s < count; ++s) {
      A const* from = source + s * source_stride;
      row -= merges[s];
      A* const to = s + 1 == count && result != nullptr ? result : rows + row * stride;
      for (int m = merges[s]; m > 0; --m) {
        A const* const earlier = rows + (row + m - 1) * stride;
        A* const sum = m == 1 ? to : rows + (row + m - 1) * stride;
        for (long i = first; i < last; ++i) sum[i] = earlier[i] + from[i];
        from = sum;
      }
      if (from != to)
        for (long i = first; i < last; ++i) to[i] = from[i];
      ++row;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
