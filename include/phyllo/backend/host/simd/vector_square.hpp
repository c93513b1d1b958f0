// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A square of numbers in registers, as many rows as a vector has lanes.
///
/// cost     log2(lanes) shuffles a vector
/// source   the transposition as repeated interleaving: Knuth, The Art of Computer Programming,
///          volume 3, 5.2.4 exercise on perfect shuffles
template <class T> struct VectorSquare {
  static constexpr int size = lanes<T>;
  Vector<T> row[size];

  PHYLLO_INLINE_ON_HOST void transpose() {
    // Each round interleaves row i with row i + size / 2: the bits of (row, lane) rotate by one.
    PHYLLO_UNROLL_ON_HOST
    for (int width = 1; width < size; width *= 2) {
      Vector<T> next[size];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < size / 2; ++i) {
        next[2 * i] = interleaved<0>(row[i], row[i + size / 2]);
        next[2 * i + 1] = interleaved<size / 2>(row[i], row[i + size / 2]);
      }
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < size; ++i) row[i] = next[i];
    }
  }

  /// to(c, r) = from(r, c).
  PHYLLO_INLINE_ON_HOST static void transpose(T const* from, long from_stride, T* to,
                                              long to_stride) {
    VectorSquare s;
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < size; ++r) s.row[r] = InstructionSet::load(from + r * from_stride);
    s.transpose();
    PHYLLO_UNROLL_ON_HOST
    for (int r = 0; r < size; ++r) InstructionSet::store(to + r * to_stride, s.row[r]);
  }

  PHYLLO_INLINE_ON_HOST VectorSquare transposed() const {
    VectorSquare s = *this;
    s.transpose();
    return s;
  }

 private:
  // Numbers of a and b in turns, from lane F on. Written out: nvcc passes a pack of indices to the
  // host's compiler without its dots.
  template <int F> PHYLLO_INLINE_ON_HOST static Vector<T> interleaved(Vector<T> a, Vector<T> b) {
    constexpr int s = size;
    if constexpr (size == 2)
      return __builtin_shufflevector(a, b, F, F + s);
    else if constexpr (size == 4)
      return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1);
    else if constexpr (size == 8)
      return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1, F + 2, F + s + 2, F + 3,
                                     F + s + 3);
    else
      return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1, F + 2, F + s + 2, F + 3,
                                     F + s + 3, F + 4, F + s + 4, F + 5, F + s + 5, F + 6,
                                     F + s + 6, F + 7, F + s + 7);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
