// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class L, bool Few, class P> struct Kernels<op::Loss<L, Few>, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename op::Loss<L>::template Evaluate<P> const& work) {
    wait(exec);
    int const channels = work.shape.channels, positions = work.shape.positions();
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    for (int n = 0; n < work.batch; ++n) {
      A value = 0, correct = 0, some = 0;
      for (int p = 0; p < positions; ++p) {
        long const at = (long(n) * positions + p) * channels;
        op::TargetRow<L, A> const target(work.targets, n, work.shape, p);
        op::GradientRow<S, A> const gradient{
            work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
            work.weight * scale / A(positions), work.accumulate_gradient};
        op::LossRow<L, S, A, op::SerialLoops, op::TargetRow<L, A>> const row(
            {}, channels, work.outputs + at, target, gradient);
        some += row.evaluate(work.held_loss());
        correct += row.correct();
        if (p % 64 < 63 && p < positions - 1) continue;
        value += some;  // 64 by 64, or sums of many positions round
        some = 0;
      }
      value *= work.weight / A(positions);
      work.values[n] = work.accumulate_values ? work.values[n] + value : value;
      if (work.correct != nullptr) work.correct[n] = correct / A(positions);
    }
  }
};

template <class P> struct Kernels<op::LossSum<P>, P> {
  using A = typename P::accumulate;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::LossSum<P> const& work) {
    wait(exec);
    work.sums[0] = A(work.batch);
    work.sums[1] = work.sums[2] = 0;
    for (int n = 0; n < work.batch; ++n) {
      work.sums[1] += work.values[n];
      if (work.correct != nullptr) work.sums[2] += work.correct[n];
    }
    work.count_labels();
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
