// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/dense_tile.hpp>
#include <phyllo/core/elementary.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Normalisations of the rows of a tile of samples that stays in the first-level cache.
///
/// shape    x, y (rows, C), rows BlockShape::stride apart; parameters: scale, then shift, of one
///          stride each, zero beyond the channels; statistics (2, Rows): mean, inverse deviation
/// numerics formulas of op::RowNormalization; results rounded to Precision::storage
template <class Op, class P, int Rows> struct RowNormTile {
  using A = typename P::accumulate;
  using Chain = typename Op::chain;
  static constexpr int channels = Op::outputs;
  static constexpr int stride = BlockShape<A, channels>::stride;

  /// Scale and shift of layer `layer` in the type of sums; one and zero where it has none.
  template <class Work> static void load(Work const& work, int layer, A* parameters) {
    for (int c = 0; c < 2 * stride; ++c) parameters[c] = A(0);
    for (int c = 0; c < channels; ++c) {
      if constexpr (Op::scale)
        parameters[c] = A(work.parameters[work.weight[layer] + c]);
      else
        parameters[c] = A(1);
      if constexpr (Op::bias) parameters[stride + c] = A(work.parameters[work.bias[layer] + c]);
    }
  }

  /// y = chain(z); `saved`, unless null, keeps z.
  static void forward(int rows, A const* x, A const* parameters, A epsilon, A* y, A* saved,
                      A* statistics, Randomness const& random, int first_sample) {
    A* const inverse = statistics + Rows;
    // A loop over all rows for each stage: no row waits for its own sums, and roots are vectors.
    for (int r = 0; r < rows; ++r) {
      A const* const row = x + r * stride;
      A* const difference = y + r * stride;
      A const mean = Op::centered ? sum(row) * share : A(0);
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) difference[i] = row[i] - mean;
      statistics[r] = mean;
      inverse[r] = sum_of_products(difference, difference) * share;
    }
    PHYLLO_SIMD(16)
    for (int r = 0; r < rows; ++r) inverse[r] = A(1) / square_root(inverse[r] + epsilon);
    for (int r = 0; r < rows; ++r, y += stride) {
      A const factor = inverse[r];
      if (saved != nullptr) {
        PHYLLO_SIMD(16)
        for (int i = 0; i < stride; ++i)
          saved[r * stride + i] =
              rounded<P>(y[i] * factor * parameters[i] + parameters[stride + i]);
      }
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) {
        Element e;
        if constexpr (Chain::random) e = random.element(first_sample + r, i);
        y[i] = rounded<P>(Chain::value(y[i] * factor * parameters[i] + parameters[stride + i], e));
      }
    }
  }

  /// d_x from the gradient of z, zero beyond the channels; what the rows contribute is added to
  /// d_scale and d_shift (C), unless null.
  static void backward(int rows, A const* x, A const* d_z, A const* parameters, A const* statistics,
                       A* d_x, A* d_scale, A* d_shift) {
    alignas(64) A x_hat[stride], h[stride], sums[2][stride] = {};
    for (int r = 0; r < rows; ++r, x += stride, d_z += stride, d_x += stride) {
      A const mean = statistics[r], inverse = statistics[Rows + r];
      PHYLLO_SIMD(16)
      for (int i = 0; i < stride; ++i) {
        x_hat[i] = (x[i] - mean) * inverse;
        h[i] = d_z[i] * parameters[i];
        sums[0][i] += d_z[i] * x_hat[i];
        sums[1][i] += d_z[i];
      }
      A const mean_h = Op::centered ? sum(h) * share : A(0);
      A const mean_hx = sum_of_products(h, x_hat) * share;
      PHYLLO_SIMD(16)
      for (int c = 0; c < channels; ++c) d_x[c] = inverse * (h[c] - mean_h - x_hat[c] * mean_hx);
      for (int c = channels; c < stride; ++c) d_x[c] = A(0);
    }
    if (d_scale != nullptr)
      for (int c = 0; c < channels; ++c) d_scale[c] += sums[0][c];
    if (d_shift != nullptr)
      for (int c = 0; c < channels; ++c) d_shift[c] += sums[1][c];
  }

 private:
  static constexpr A share = A(1) / A(channels);
  static constexpr int vectors = vectors_of<A>(channels);
  using Row = RegisterBlock<A, 1, vectors, channels - (vectors - 1) * lanes<A>>;

  // Over the channels of a row: the lanes beyond them are not read.
  PHYLLO_INLINE_ON_HOST static A sum(A const* row) {
    Vector<A> total = Row::load(row, 0);
    PHYLLO_UNROLL_ON_HOST
    for (int v = 1; v < vectors; ++v) total = InstructionSet::add(total, Row::load(row, v));
    return sum_of_lanes(total);
  }
  PHYLLO_INLINE_ON_HOST static A sum_of_products(A const* a, A const* b) {
    Vector<A> total = InstructionSet::zero(A());
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < vectors; ++v)
      total = InstructionSet::multiply_add(Row::load(a, v), Row::load(b, v), total);
    return sum_of_lanes(total);
  }
  PHYLLO_INLINE_ON_HOST static A sum_of_lanes(Vector<A> const& total) {
    alignas(64) A part[lanes<A>];
    InstructionSet::store(part, total);
    PHYLLO_UNROLL_ON_HOST
    for (int width = lanes<A> / 2; width > 0; width /= 2) {
      PHYLLO_UNROLL_ON_HOST
      for (int l = 0; l < width; ++l) part[l] += part[l + width];
    }
    return part[0];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
