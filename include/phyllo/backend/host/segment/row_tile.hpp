// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/dense_tile.hpp>
#include <phyllo/op/affine.hpp>
#include <phyllo/op/segment.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums and normalisations on a tile of samples that stays in the first-level cache.
///
/// shape    x (rows, channels) -> y (rows, channels); rows are BlockShape::stride apart
/// numerics results rounded to Precision::storage
template <class Op, class P> struct RowTile {
  using A = typename P::accumulate;
  using Chain = typename Op::chain;
  static constexpr int stride = BlockShape<A, Op::outputs>::stride;

  /// y = chain(x + earlier); `saved`, unless null, keeps the chain's input.
  static void add(int rows, A const* x, A const* earlier, A* y, A* saved, Randomness const& random,
                  int first_sample) {
    for (int r = 0; r < rows; ++r) {
      long const at = long(r) * stride;
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) y[at + i] = x[at + i] + earlier[at + i];
      if (saved != nullptr) {
        PHYLLO_SIMD(16)
        for (int i = 0; i < stride; ++i) saved[at + i] = rounded<P>(y[at + i]);
      }
      chain(y + at, random, first_sample + r);
    }
  }

  /// y = chain(x factor + shift), per channel.
  static void normalize(int rows, A const* x, A const* factor, A const* shift, A* y,
                        Randomness const& random, int first_sample) {
    for (int r = 0; r < rows; ++r) {
      long const at = long(r) * stride;
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) y[at + i] = x[at + i] * factor[i] + shift[i];
      chain(y + at, random, first_sample + r);
    }
  }

  /// factor = scale / sqrt(variance + epsilon), shift = shift - mean factor; `to` takes both.
  static void normalization(float const* mean, typename P::storage const* scale,
                            typename P::storage const* shift, double epsilon, A* to) {
    float const* const variance = mean + Op::outputs;
    for (int c = 0; c < stride; ++c) {
      bool const in_extent = c < Op::outputs;
      A const factor =
          in_extent ? op::scale_at<A>(scale, c) / Kokkos::sqrt(A(variance[c]) + A(epsilon)) : A(0);
      to[c] = factor;
      to[stride + c] = in_extent ? op::shift_at<A>(shift, c) - A(mean[c]) * factor : A(0);
    }
  }

  /// Of one sample's row.
  static void chain(A* row, [[maybe_unused]] Randomness const& random,
                    [[maybe_unused]] int sample) {
    if constexpr (Chain::length > 0 || DenseTile<Op, P>::rounds) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) {
        Element e;
        if constexpr (Chain::random) e = random.element(sample, i);
        row[i] = rounded<P>(Chain::value(row[i], e));
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
