// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/tile_loss.hpp>
#include <phyllo/op/segment_backward.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where the gradient of a segment's result comes from: a loss of the result and the targets, or
/// the caller's memory.
///
/// shape    y, d_y, targets: rows of `outputs` numbers, `stride` apart; `numbers`: of each of them
///          `numbers_of_channel`, which `load` computes once for a piece of the batch
template <class Op, class A> struct ResultGradient;

template <class Segment, class L, class A> struct ResultGradient<op::WholeStep<Segment, L>, A> {
  /// What is read, for a prefetch, and its numbers a sample.
  template <class Work> static ExternalTensor const& tensor(Work const& work, int) {
    return work.targets;
  }
  static constexpr int channels(int outputs) { return L::classes ? 1 : outputs; }
  static constexpr int numbers_of_channel = 0;
  template <class Work> static void load(Work const&, int, int, A*) {}

  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const* y, A* targets, A* d_y,
                  int stride, A const*) {
    TileLoss<L, A>::run(work, n, rows, outputs, y, targets, d_y, stride);
  }
};

template <class Segment, class A> struct ResultGradient<op::SegmentBackward<Segment>, A> {
  template <class Work> static ExternalTensor tensor(Work const& work, int outputs) {
    return rows_of(work.d_y, outputs);
  }
  static constexpr int channels(int outputs) { return outputs; }
  static constexpr int numbers_of_channel = 0;
  template <class Work> static void load(Work const&, int, int, A*) {}

  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const*, A*, A* d_y, int stride,
                  A const*) {
    TileTransfer<A>::load(tensor(work, outputs), n, rows, outputs, d_y, stride);
  }
};

/// From the gradient g behind a batch normalisation of y that of y, by
/// factor (g - mean(g) - (y - mean) inverse_deviation mean(g y_hat)).
template <class Segment, class A> struct ResultGradient<op::NormalizedSegmentBackward<Segment>, A> {
  template <class Work> static ExternalTensor tensor(Work const& work, int outputs) {
    return rows_of(work.d_y, outputs);
  }
  static constexpr int channels(int outputs) { return outputs; }
  static constexpr int numbers_of_channel = 4;
  template <class Work> static void load(Work const& work, int outputs, int stride, A* numbers) {
    for (int c = 0; c < 4 * stride; ++c) numbers[c] = A(0);
    A const batch = A(work.forward.batch);
    for (int c = 0; c < outputs; ++c) {
      A const inverse = work.inverse_deviation[c];
      numbers[c] = A(work.scale[c]) * inverse;
      numbers[stride + c] = work.sums[c] / batch;
      numbers[2 * stride + c] = work.mean[c];
      numbers[3 * stride + c] = inverse * (work.sums[outputs + c] / batch);
    }
  }

  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const*, A*, A* d_y, int stride,
                  A const* numbers) {
    A const* const factor = numbers;
    A const* const mean_g = numbers + stride;
    A const* const mean = numbers + 2 * stride;
    A const* const slope = numbers + 3 * stride;
    for (int r = 0; r < rows; ++r, d_y += stride) {
      auto const* const g = work.d_y + (n + r) * outputs;
      auto const* const y = work.y + (n + r) * outputs;
      PHYLLO_SIMD(16)
      for (int c = 0; c < outputs; ++c)
        d_y[c] = factor[c] * (A(g[c]) - mean_g[c] - (A(y[c]) - mean[c]) * slope[c]);
      for (int c = outputs; c < stride; ++c) d_y[c] = A(0);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
