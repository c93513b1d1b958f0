// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// sum over c of a[c] b[c], in rising order.
template <class A, int Width, class X, class Y> PHYLLO_INLINE A dot(X const* a, Y const* b) {
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
  template <class V> PHYLLO_INLINE void add(A score, A kept, V const* v) {
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
