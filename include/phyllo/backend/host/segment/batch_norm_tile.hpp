// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/dense_tile.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Batch normalisation on a tile of samples that stays in the first-level cache, by statistics that
/// are known.
///
/// shape    x, y (rows, C), rows BlockShape::stride apart; `numbers`: mean, inverse deviation,
///          scale and shift, of one stride each, zero beyond the channels
/// numerics formulas of op::Normalization
template <class Op, class P> struct BatchNormTile {
  using A = typename P::accumulate;
  using Chain = typename Op::chain;
  static constexpr int channels = Op::outputs;
  static constexpr int stride = BlockShape<A, channels>::stride;

  /// Of the first layer of a segment.
  template <class Work> static void load(Work const& work, A* numbers) {
    for (int c = 0; c < 4 * stride; ++c) numbers[c] = A(0);
    for (int c = 0; c < channels; ++c) {
      numbers[c] = work.mean[c];
      numbers[stride + c] = work.inverse_deviation[c];
      numbers[2 * stride + c] = A(work.parameters[work.weight[0] + c]);
      numbers[3 * stride + c] = A(work.parameters[work.bias[0] + c]);
    }
  }

  /// y = chain(z); `saved`, unless null, keeps z.
  static void forward(int rows, A const* x, A const* numbers, A* y, A* saved,
                      Randomness const& random, int first_sample) {
    A const* const mean = numbers;
    A const* const inverse = numbers + stride;
    A const* const scale = numbers + 2 * stride;
    A const* const shift = numbers + 3 * stride;
    for (int r = 0; r < rows; ++r, x += stride, y += stride) {
      if (saved != nullptr) {
        PHYLLO_SIMD(16)
        for (int i = 0; i < stride; ++i)
          saved[r * stride + i] = (x[i] - mean[i]) * inverse[i] * scale[i] + shift[i];
      }
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) {
        Element e;
        if constexpr (Chain::random) e = random.element(first_sample + r, i);
        y[i] = Chain::value((x[i] - mean[i]) * inverse[i] * scale[i] + shift[i], e);
      }
    }
  }

  /// What the rows contribute to the gradients of scale and shift (C), from the gradient of z.
  static void add_sums(int rows, A const* x, A const* d_z, A const* numbers, A* d_scale,
                       A* d_shift) {
    alignas(64) A sums[2][stride] = {};
    for (int r = 0; r < rows; ++r, x += stride, d_z += stride) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) {
        sums[0][i] += d_z[i] * ((x[i] - numbers[i]) * numbers[stride + i]);
        sums[1][i] += d_z[i];
      }
    }
    for (int c = 0; c < channels; ++c) d_scale[c] += sums[0][c];
    for (int c = 0; c < channels; ++c) d_shift[c] += sums[1][c];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
