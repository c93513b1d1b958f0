// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/op/row.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The targets of a sample: channel c, or the class index.
template <class L, class A> struct TileTarget {
  A const* row = nullptr;  // (C)
  long long number = 0;
  PHYLLO_FUNCTION auto operator()([[maybe_unused]] int c) const {
    if constexpr (L::classes)
      return number;
    else
      return row[c];
  }
};

/// The loss of a tile of samples, and its gradient.
///
/// shape    y, d_y, targets: rows of `outputs` numbers, `stride` apart; the targets are read
///          in here
template <class L, class A> struct TileLoss {
  template <class Work>
  static void run(Work const& work, long n, int rows, int outputs, A const* y, A* targets, A* d_y,
                  int stride) {
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    if constexpr (!L::classes && op::outputs_per_target<L>() > 0)
      TileTransfer<A>::load(work.targets, n, rows, outputs / op::outputs_per_target<L>(), targets,
                            stride);
    for (int r = 0; r < rows; ++r) {
      TileTarget<L, A> target{targets + r * stride};
      if constexpr (L::classes)
        target.number = work.targets.template read<long long>(n + r, 0, 0, 0, 0);
      op::GradientRow<A, A> const gradient{d_y + r * stride, work.weight * scale, false};
      op::LossRow<L, A, A, op::VectorLoops, TileTarget<L, A>> const row({}, outputs, y + r * stride,
                                                                        target, gradient);
      work.values[n + r] = work.weight * row.evaluate(work.held_loss());
      if (work.correct != nullptr) work.correct[n + r] = row.correct();
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
