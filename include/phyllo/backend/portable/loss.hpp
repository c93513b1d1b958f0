// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/row_team.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one sample, its positions in rising order.
template <class L, class P> struct loss_evaluate {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Loss<L>::template Evaluate<P> work;

  PHYLLO_FUNCTION void operator()(long n) const {
    int const channels = work.shape.channels, positions = work.shape.positions();
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    A value = 0, correct = 0;
    for (int p = 0; p < positions; ++p) {
      long const at = (n * positions + p) * channels;
      op::OutputRow<S, A> const z{work.outputs + at};
      op::TargetRow<L, A> const target(work.targets, int(n), work.shape, p);
      op::GradientRow<S, A> const gradient{
          work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
          work.weight * scale / A(positions), work.accumulate_gradient};
      value += L::template row<A>(channels, z, target, gradient);
      correct += op::is_correct<L, A>(channels, z, target);
    }
    value *= work.weight / A(positions);
    work.values[n] = work.accumulate_values ? work.values[n] + value : value;
    if (work.correct != nullptr) work.correct[n] = correct / A(positions);
  }
};

/// One team: one sample without positions.
template <class L, class P, class Space> struct loss_evaluate_by_team {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  typename op::Loss<L>::template Evaluate<P> work;

  PHYLLO_FUNCTION void operator()(Member const& member) const {
    int const channels = work.shape.channels, n = int(member.league_rank());
    long const at = long(n) * channels;
    op::RowTeam<Member> const team{member};
    op::OutputRow<S, A> const z{work.outputs + at};
    op::TargetRow<L, A> const target(work.targets, n, work.shape, 0);
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    op::GradientRow<S, A> const gradient{work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
                                         work.weight * scale, work.accumulate_gradient};
    A const value = work.weight * L::template row_by_team<A>(team, channels, z, target, gradient);
    A const correct =
        work.correct != nullptr ? op::is_correct_by_team<L, A>(team, channels, z, target) : A(0);
    // By one vector lane: what is added to is read before it is written.
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      work.values[n] = work.accumulate_values ? work.values[n] + value : value;
      if (work.correct != nullptr) work.correct[n] = correct;
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
    if constexpr (op::is_shared_by_teams<L> && !is_processor<Space>)
      if (work.shape.positions() == 1 && work.shape.channels >= shared_channels)
        return run_by_teams(exec, label, work);
    launch(exec, label, work.batch, loss_evaluate<L, P>{work});
  }
  template <class Space>
  static void run_by_teams(Space const& exec, std::string const& label,
                           typename op::Loss<L>::template Evaluate<P> const& work) {
    launch_teams(exec, label, work.batch, work.shape.channels,
                 loss_evaluate_by_team<L, P, Space>{work});
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
