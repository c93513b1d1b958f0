// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/rows.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One sample, its positions in rising order.
template <class L, class P> struct loss_evaluate {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Loss<L>::template Evaluate<P> work;

  template <class Loops> PHYLLO_FUNCTION void operator()(long n, Loops const& loops) const {
    int const channels = work.shape.channels, positions = work.shape.positions();
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    A value = 0, correct = 0;
    for (int p = 0; p < positions; ++p) {
      long const at = (n * positions + p) * channels;
      op::TargetRow<L, A> const target(work.targets, int(n), work.shape, p);
      op::GradientRow<S, A> const gradient{
          work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
          work.weight * scale / A(positions), work.accumulate_gradient};
      op::LossRow<L, S, A, Loops, op::TargetRow<L, A>> const row(loops, channels, work.outputs + at,
                                                                 target, gradient);
      value += work.held_loss()(row);
      if (work.correct != nullptr) correct += row.correct();
    }
    value *= work.weight / A(positions);
    // What is added to is read before it is written.
    loops.once([&] {
      work.values[n] = work.accumulate_values ? work.values[n] + value : value;
      if (work.correct != nullptr) work.correct[n] = correct / A(positions);
    });
  }
};

/// One work item: one block of samples.
template <class P> struct loss_partial {
  using A = typename P::accumulate;
  op::LossSum<P> work;

  PHYLLO_FUNCTION void operator()(long b) const {
    constexpr int blocks = op::LossSum<P>::blocks;
    A value = 0, correct = 0;
    for (long n = work.batch * b / blocks; n < work.batch * (b + 1) / blocks; ++n) {
      value += work.values[n];
      if (work.correct != nullptr) correct += work.correct[n];
    }
    work.partial[b] = value;
    work.partial[blocks + b] = correct;
  }
};

template <class P> struct loss_combine {
  using A = typename P::accumulate;
  op::LossSum<P> work;

  PHYLLO_FUNCTION void operator()(long) const {
    constexpr int blocks = op::LossSum<P>::blocks;
    work.sums[0] = A(work.batch);
    for (int k = 0; k < 2; ++k) {
      A sum = 0;
      for (int b = 0; b < blocks; ++b) sum += work.partial[k * blocks + b];
      work.sums[1 + k] = sum;
    }
    work.count_labels();
  }
};

template <class L, bool Few, class P> struct Kernels<op::Loss<L, Few>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Loss<L>::template Evaluate<P> const& work) {
    launch_rows(exec, label, work.batch, work.shape.channels, loss_evaluate<L, P>{work},
                work.shape.positions() == 1);
  }
};

template <class P> struct Kernels<op::LossSum<P>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::LossSum<P> const& work) {
    launch(exec, label, op::LossSum<P>::blocks, loss_partial<P>{work});
    launch(exec, label, 1, loss_combine<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
