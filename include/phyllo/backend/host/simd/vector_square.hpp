// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Numbers of a and b in turns, from lane F on. Written out: nvcc passes a pack of indices to the
/// host's compiler without its dots.
template <class T, int F> PHYLLO_INLINE_ON_HOST Vector<T> interleaved(Vector<T> a, Vector<T> b) {
  constexpr int s = lanes<T>;
  if constexpr (s == 2)
    return __builtin_shufflevector(a, b, F, F + s);
  else if constexpr (s == 4)
    return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1);
  else if constexpr (s == 8)
    return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1, F + 2, F + s + 2, F + 3,
                                   F + s + 3);
  else
    return __builtin_shufflevector(a, b, F, F + s, F + 1, F + s + 1, F + 2, F + s + 2, F + 3,
                                   F + s + 3, F + 4, F + s + 4, F + 5, F + s + 5, F + 6, F + s + 6,
                                   F + 7, F + s + 7);
}

/// The numbers of some vectors, a power of two: those of the first and of the second half in turns.
/// The bits of a number's place so rotate by one.
///
/// cost     one shuffle a vector
template <class T, int Count> PHYLLO_INLINE_ON_HOST void interleave_halves(Vector<T> (&v)[Count]) {
  Vector<T> next[Count];
  PHYLLO_UNROLL_ON_HOST
  for (int i = 0; i < Count / 2; ++i) {
    next[2 * i] = interleaved<T, 0>(v[i], v[i + Count / 2]);
    next[2 * i + 1] = interleaved<T, lanes<T> / 2>(v[i], v[i + Count / 2]);
  }
  PHYLLO_UNROLL_ON_HOST
  for (int i = 0; i < Count; ++i) v[i] = next[i];
}

/// A square of numbers in registers, as many rows as a vector has lanes.
///
/// cost     log2(lanes) shuffles a vector
/// source   the transposition as repeated interleaving: Knuth, The Art of Computer Programming,
///          volume 3, 5.2.4 exercise on perfect shuffles
template <class T> struct VectorSquare {
  static constexpr int size = lanes<T>;
  Vector<T> row[size];

  PHYLLO_INLINE_ON_HOST void transpose() {
    // Each round rotates the bits of (row, lane).
    PHYLLO_UNROLL_ON_HOST
    for (int width = 1; width < size; width *= 2) interleave_halves<T>(row);
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
};

}  // namespace phyllo::inline PHYLLO_ISA::host
