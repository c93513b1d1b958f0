// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// A row of queries, keys, values or gradients: in registers where `Held`, else it is read where it
/// is used.
template <class A, int Width, bool Held, class S> struct HeadRow {
  static constexpr int chunk = 16 / int(sizeof(S));
  A value[Width];

  /// by_chunks: the row begins at a multiple of 16 bytes.
  PHYLLO_INLINE HeadRow(S const* row, bool by_chunks) {
    struct alignas(16) Chunk {
      S value[chunk];
    };
    if constexpr (Width % chunk == 0)
      if (by_chunks) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int c = 0; c < Width; c += chunk) {
          Chunk const some = *reinterpret_cast<Chunk const*>(row + c);
          PHYLLO_UNROLL_ON_DEVICE
          for (int i = 0; i < chunk; ++i) value[c + i] = A(some.value[i]);
        }
        return;
      }
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < Width; ++c) value[c] = A(row[c]);
  }
  PHYLLO_INLINE A operator[](int c) const { return value[c]; }
};
template <class A, int Width, class S> struct HeadRow<A, Width, false, S> {
  S const* row;
  PHYLLO_INLINE HeadRow(S const* from, bool) : row(from) {}
  PHYLLO_INLINE S operator[](int c) const { return row[c]; }
};

/// sum over c of a[c] b[c], in rising order.
template <class A, int Width, class X, class Y> PHYLLO_INLINE A dot(X const& a, Y const& b) {
  A sum = 0;
  PHYLLO_UNROLL_ON_DEVICE
  for (int c = 0; c < Width; ++c) sum += A(a[c]) * A(b[c]);
  return sum;
}

/// One query of one head while its keys pass by: the largest score, the sum of exponentials, and
/// the sum of values with these, all divided by exp(largest).
///
/// numerics without a key `sum` is zero and the result not a number
/// source   Milakov and Gimelshein, "Online normalizer calculation for softmax", arXiv:1805.02867
template <class A, int Width> struct AttentionRow {
  A largest = -Kokkos::Experimental::infinity_v<A>;
  A sum = 0;
  A value[Width] = {};

  /// A key of this score; `kept`: the factor of a dropout on its weight.
  template <class V> PHYLLO_INLINE void add(A score, A kept, V const& v) {
    // A score that is not a number goes through; -infinity adds nothing.
    if (score == -Kokkos::Experimental::infinity_v<A>) return;
    A weight = 1;
    if (score > largest) {
      A const factor = decay(largest - score);
      largest = score;
      sum *= factor;
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < Width; ++c) value[c] *= factor;
    } else {
      weight = decay(score - largest);
    }
    sum += weight;
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < Width; ++c) value[c] += weight * kept * A(v[c]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op
