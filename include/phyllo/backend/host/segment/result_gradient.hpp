// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/tile_loss.hpp>
#include <phyllo/op/segment_backward.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where the gradient of a segment's result comes from: a loss of the result and the targets, or
/// the caller's memory.
///
/// shape    y, d_y, targets: rows of `outputs` numbers, `stride` apart
template <class Op, class A> struct ResultGradient;

template <class Segment, class L, class A> struct ResultGradient<op::WholeStep<Segment, L>, A> {
  /// What is read, for a prefetch, and its numbers a sample.
  template <class Work> static ExternalTensor const& tensor(Work const& work, int) {
    return work.targets;
  }
  static constexpr int channels(int outputs) { return L::classes ? 1 : outputs; }

  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const* y, A* targets, A* d_y,
                  int stride) {
    TileLoss<L, A>::run(work, n, rows, outputs, y, targets, d_y, stride);
  }
};

template <class Segment, class A> struct ResultGradient<op::SegmentBackward<Segment>, A> {
  template <class Work> static ExternalTensor tensor(Work const& work, int outputs) {
    return rows_of(work.d_y, outputs);
  }
  static constexpr int channels(int outputs) { return outputs; }

  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const*, A*, A* d_y,
                  int stride) {
    TileTransfer<A>::load(tensor(work, outputs), n, rows, outputs, d_y, stride);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
