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
    alignas(64) A sums[2][stride];
    constexpr int vectors = stride / lanes<A>, whole = vectors / together * together;
    for (int v = 0; v < whole; v += together)
      add_columns<together>(rows, v * lanes<A>, x, d_z, numbers, sums);
    for (int v = whole; v < vectors; ++v) add_columns<1>(rows, v * lanes<A>, x, d_z, numbers, sums);
    for (int c = 0; c < channels; ++c) d_scale[c] += sums[0][c] * numbers[stride + c];
    for (int c = 0; c < channels; ++c) d_shift[c] += sums[1][c];
  }

 private:
  // Vectors of columns at a time, whose sums are in registers.
  static constexpr int together = 4;

  // Of d_z (x - mean) and of d_z, of all rows.
  template <int Count>
  static void add_columns(int rows, int first, A const* x, A const* d_z, A const* mean,
                          A (&sums)[2][stride]) {
    using I = InstructionSet;
    Vector<A> products[Count], shifts[Count], minus[Count];
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Count; ++v) {
      products[v] = shifts[v] = I::zero(A());
      alignas(64) A negative[lanes<A>];
      for (int l = 0; l < lanes<A>; ++l) negative[l] = -mean[first + v * lanes<A> + l];
      minus[v] = I::load(negative);
    }
    for (int r = 0; r < rows; ++r) {
      long const at = long(r) * stride + first;
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Count; ++v) {
        Vector<A> const d = I::load(d_z + at + v * lanes<A>);
        products[v] =
            I::multiply_add(d, I::add(I::load(x + at + v * lanes<A>), minus[v]), products[v]);
        shifts[v] = I::add(shifts[v], d);
      }
    }
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Count; ++v) {
      I::store(sums[0] + first + v * lanes<A>, products[v]);
      I::store(sums[1] + first + v * lanes<A>, shifts[v]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
