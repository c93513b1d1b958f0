// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

#include <utility>

namespace phyllo::openmp {

/// A square of lanes x lanes numbers, transposed.
///
/// cost     log2(lanes) rounds of lanes shuffles
/// source   a round of perfect shuffles turns the address (row, column) by one bit: Stone,
/// "Parallel
///          Processing with the Perfect Shuffle", IEEE Trans. Computers C-20 (1971) 153
template <class T> class LaneTranspose {
  static constexpr int n = lanes<T>;

 public:
  /// to(c, r) = from(r, c).
  PHYLLO_INLINE static void run(T const* from, long from_stride, T* to, long to_stride) {
    Vector<T> row[n];
    PHYLLO_UNROLL
    for (int r = 0; r < n; ++r) row[r] = InstructionSet::load(from + r * from_stride);
    rounds(row, std::make_integer_sequence<int, n>{});
    PHYLLO_UNROLL
    for (int r = 0; r < n; ++r) InstructionSet::store(to + r * to_stride, row[r]);
  }

 private:
  template <int... I>
  PHYLLO_INLINE static void rounds(Vector<T> (&row)[n], std::integer_sequence<int, I...>) {
    PHYLLO_UNROLL
    for (int width = 1; width < n; width *= 2) {
      Vector<T> next[n];
      PHYLLO_UNROLL
      for (int r = 0; r < n / 2; ++r) {
        next[2 * r] =
            __builtin_shufflevector(row[r], row[r + n / 2], (I % 2 == 0 ? I / 2 : n + I / 2)...);
        next[2 * r + 1] = __builtin_shufflevector(
            row[r], row[r + n / 2], (I % 2 == 0 ? n / 2 + I / 2 : n + n / 2 + I / 2)...);
      }
      PHYLLO_UNROLL
      for (int r = 0; r < n; ++r) row[r] = next[r];
    }
  }
};

}  // namespace phyllo::openmp
