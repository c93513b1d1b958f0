// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>

namespace phyllo::portable {

/// One work item: one sample, its positions in rising order.
template <class L, class P> struct loss_evaluate {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Loss<L>::template Evaluate<P> work;

  PHYLLO_FUNCTION void operator()(long n) const {
    int const channels = work.shape.channels, positions = work.shape.positions();
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    A value = 0, hits = 0;
    for (int p = 0; p < positions; ++p) {
      long const at = (n * positions + p) * channels;
      op::OutputRow<S, A> const z{work.outputs + at};
      op::TargetRow<L, A> const target(work.targets, int(n), work.shape, p);
      op::GradientRow<S, A> const gradient{
          work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
          A(work.weight) * scale / A(positions), work.accumulate_gradient};
      value += L::template row<A>(channels, z, target, gradient);
      hits += op::hit<L, A>(channels, z, target);
    }
    value *= A(work.weight) / A(positions);
    work.values[n] = work.accumulate_values ? work.values[n] + value : value;
    if (work.hits != nullptr) work.hits[n] = hits / A(positions);
  }
};

/// One work item: one block of samples.
template <class P> struct loss_partial {
  using A = typename P::accumulate;
  op::LossSum<P> work;

  PHYLLO_FUNCTION void operator()(long b) const {
    constexpr int blocks = op::LossSum<P>::blocks;
    A value = 0, hits = 0;
    for (long n = work.batch * b / blocks; n < work.batch * (b + 1) / blocks; ++n) {
      value += work.values[n];
      if (work.hits != nullptr) hits += work.hits[n];
    }
    work.partial[b] = value;
    work.partial[blocks + b] = hits;
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
  }
};

template <class L, bool Few, class P> struct Kernels<op::Loss<L, Few>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Loss<L>::template Evaluate<P> const& work) {
    launch(exec, label, work.batch, loss_evaluate<L, P>{work});
  }
};

template <class P> struct Kernels<op::LossSum<P>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::LossSum<P> const& work) {
    launch(exec, label, op::LossSum<P>::blocks, loss_partial<P>{work});
    launch(exec, label, 1, loss_combine<P>{work});
  }
};

}  // namespace phyllo::portable
