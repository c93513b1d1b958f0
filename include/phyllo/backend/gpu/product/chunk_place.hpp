// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Depths of a product that a block of threads has in scratch memory as one stage.
inline constexpr int stage_depth = 32;

/// The chunks of a stage of an operand that one thread copies: 8 numbers of 16 bits side by side,
/// along the depth of a line or along the lines of a depth.
///
/// shape    in scratch memory (Lines, depth) where AlongDepth, else (depth, Lines)
template <int Lines, bool AlongDepth, int Threads> struct ChunkPlace {
  static constexpr int numbers = 8;
  static constexpr int parts = (AlongDepth ? stage_depth : Lines) / numbers;  // of a row
  static constexpr int rows = AlongDepth ? Lines : stage_depth;
  static constexpr int between = Threads / parts;  // rows from one chunk of a thread to the next
  static constexpr int count = rows / between;
  static_assert(Threads % parts == 0 && rows % between == 0,
                "threads have equally many chunks, in the same part of a row");

  int row, part;
  PHYLLO_INLINE explicit ChunkPlace(int thread) : row(thread / parts), part(thread % parts) {}
  PHYLLO_INLINE int number() const { return part * numbers; }  // the first in the row
  /// Where chunk `part` of a row is in scratch memory, in numbers. Along lines, the chunks that 8
  /// lanes read of different depths at a time are in different banks.
  PHYLLO_INLINE static int at(int row, int part) {
    if constexpr (!AlongDepth) part ^= row % 2 + row / 8 * 2;
    return (row * parts + part) * numbers;
  }
};

/// Which depth of a stage a lane's value or weight number `slot` belongs to in the matrix
/// instruction number `step` for 16 depths: 8 depths side by side are those of one lane.
PHYLLO_INLINE constexpr int depth_of_slot(int step, int slot) {
  return slot % 8 / 2 * 8 + step * 4 + slot / 8 * 2 + slot % 2;
}

/// Whether chunks of a matrix with so many columns are aligned.
template <class S> bool has_chunks(S const* from, long columns) {
  return columns % 8 == 0 && reinterpret_cast<std::uintptr_t>(from) % (8 * sizeof(S)) == 0;
}

}  // namespace phyllo::inline PHYLLO_ISA::gpu
