// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Cuts what a block wants in scratch memory one after the other into stages, each of which takes
/// the place of the one before.
///
/// options  Layout: the pieces, `pieces` in number with `bytes(piece)` each, and the `budget` in
///          bytes; derived from this
template <class Layout> struct ScratchStages {
  /// First piece of a stage; of the stage behind the last one the number of pieces.
  PHYLLO_INLINE static constexpr int first_of(int stage) {
    int first = 0;
    for (int s = 0; s < stage && first < Layout::pieces; ++s) {
      long sum = Layout::bytes(first++);
      while (first < Layout::pieces && sum + Layout::bytes(first) <= Layout::budget)
        sum += Layout::bytes(first++);
    }
    return first;
  }
  PHYLLO_INLINE static constexpr int stages() {
    int s = 0;
    while (first_of(s) < Layout::pieces) ++s;
    return s;
  }
  PHYLLO_INLINE static constexpr int stage_of(int piece) {
    int s = 0;
    while (first_of(s + 1) <= piece) ++s;
    return s;
  }
  /// Whether a piece has a stage for itself.
  PHYLLO_INLINE static constexpr bool is_alone(int piece) {
    return first_of(stage_of(piece)) == piece && first_of(stage_of(piece) + 1) == piece + 1;
  }
  /// Bytes before a piece, in its stage.
  PHYLLO_INLINE static constexpr int offset(int piece) {
    int sum = 0;
    for (int k = first_of(stage_of(piece)); k < piece; ++k) sum += Layout::bytes(k);
    return sum;
  }
  PHYLLO_INLINE static constexpr int scratch_bytes() {
    int most = 0;
    for (int k = 0; k < Layout::pieces; ++k)
      most = offset(k) + Layout::bytes(k) > most ? offset(k) + Layout::bytes(k) : most;
    return most;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
