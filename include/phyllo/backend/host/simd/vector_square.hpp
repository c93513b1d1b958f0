// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// A square of numbers in registers, as many rows as a vector has lanes.
///
/// cost     log2(lanes) shuffles a vector
/// source   the transposition as repeated interleaving: Knuth, The Art of Computer Programming,
///          volume 3, 5.2.4 exercise on perfect shuffles
template <class T> struct VectorSquare {
  static constexpr int size = lanes<T>;
  Vector<T> row[size];

  PHYLLO_INLINE void transpose() {
    // Each round interleaves row i with row i + size / 2: the bits of (row, lane) rotate by one.
    PHYLLO_UNROLL
    for (int width = 1; width < size; width *= 2) {
      Vector<T> next[size];
      PHYLLO_UNROLL
      for (int i = 0; i < size / 2; ++i) {
        next[2 * i] = interleaved<0>(row[i], row[i + size / 2], std::make_index_sequence<size>{});
        next[2 * i + 1] =
            interleaved<size / 2>(row[i], row[i + size / 2], std::make_index_sequence<size>{});
      }
      PHYLLO_UNROLL
      for (int i = 0; i < size; ++i) row[i] = next[i];
    }
  }

  /// to(c, r) = from(r, c).
  PHYLLO_INLINE static void transpose(T const* from, long from_stride, T* to, long to_stride) {
    VectorSquare s;
    PHYLLO_UNROLL
    for (int r = 0; r < size; ++r) s.row[r] = InstructionSet::load(from + r * from_stride);
    s.transpose();
    PHYLLO_UNROLL
    for (int r = 0; r < size; ++r) InstructionSet::store(to + r * to_stride, s.row[r]);
  }

  PHYLLO_INLINE VectorSquare transposed() const {
    VectorSquare s = *this;
    s.transpose();
    return s;
  }

 private:
  // Numbers of a and b in turns, from lane First on.
  template <int First, std::size_t... I>
  PHYLLO_INLINE static Vector<T> interleaved(Vector<T> a, Vector<T> b, std::index_sequence<I...>) {
    return __builtin_shufflevector(a, b, (First + int(I) / 2 + (I % 2 == 0 ? 0 : size))...);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
