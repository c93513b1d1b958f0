// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/loss.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums over samples side by side, then over what stands side by side: an order that no number of
/// threads changes. Reading a number a sample takes no longer than to start the other threads.
template <class P> struct loss_sum {
  using A = typename P::accumulate;
  op::LossSum<P> work;

  void operator()(int) const {
    work.sums[0] = A(work.batch);
    work.sums[1] = sum(work.values);
    work.sums[2] = work.correct == nullptr ? A(0) : sum(work.correct);
    work.count_labels();
  }

 private:
  A sum(A const* numbers) const {
    constexpr int side_by_side = 64;
    A part[side_by_side] = {};
    int n = 0;
    for (; n + side_by_side <= work.batch; n += side_by_side) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < side_by_side; ++i) part[i] += numbers[n + i];
    }
    for (int i = 0; n + i < work.batch; ++i) part[i] += numbers[n + i];
    for (int width = side_by_side / 2; width > 0; width /= 2)
      for (int i = 0; i < width; ++i) part[i] += part[i + width];
    return part[0];
  }
};

template <class P> struct Kernels<op::LossSum<P>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::LossSum<P> const& work) {
    launch(exec, label, 1, loss_sum<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
