// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Products of no more rows, such as those of the layers of few samples, are bound by the memory
/// that their weights and the gradients of these pass through: nothing is packed for them.
inline constexpr int few_rows = 16;

/// Blocks of few rows and some vectors of columns.
template <class A> struct FewRows {
  static constexpr int rows = 4, vectors = InstructionSet::registers >= 32 ? 4 : 2;
  static constexpr int width = vectors * lanes<A>;
  using Block = RegisterBlock<A, rows, vectors, lanes<A>>;

  static constexpr int padded(int count) { return (count + rows - 1) / rows * rows; }
  /// Pieces of `units` for as many threads, none of them shorter than the start of a thread.
  static int pieces(int threads, long units, double products) {
    constexpr double fewest = 1 << 17;
    long const count = threads < units ? threads : units;
    return products >= double(count) * fewest ? int(count) : 1 + int(products / fewest);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
