// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/rows.hpp>
#include <phyllo/op/loss.hpp>
#include <phyllo/op/row.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// The value of one row or of several, and how many of them have the right class.
template <class A> struct LossOfRows {
  A value = 0;
  A correct = 0;
  PHYLLO_FUNCTION void operator+=(LossOfRows const& other) {
    value += other.value;
    correct += other.correct;
  }
};

/// One sample, its positions in rising order; their sums 64 by 64, or those of many round.
template <class L, class P> struct loss_evaluate {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Loss<L>::template Evaluate<P> work;

  template <class Loops> PHYLLO_FUNCTION void operator()(long n, Loops const& loops) const {
    int const positions = work.shape.positions();
    LossOfRows<A> sum;
    for (int first = 0; first < positions; first += 64) {
      LossOfRows<A> some;
      for (int p = first; p < positions && p < first + 64; ++p) add(n, p, loops, some);
      sum += some;
    }
    loops.once([&] { finish(n, sum); });
  }

  /// The row of position p, whose gradient it stores.
  template <class Loops>
  PHYLLO_FUNCTION void add(long n, int p, Loops const& loops, LossOfRows<A>& sum) const {
    int const channels = work.shape.channels, positions = work.shape.positions();
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    long const at = (n * positions + p) * channels;
    op::TargetRow<L, A> const target(work.targets, int(n), work.shape, p);
    op::GradientRow<S, A> const gradient{work.d_outputs == nullptr ? nullptr : work.d_outputs + at,
                                         work.weight * scale / A(positions),
                                         work.accumulate_gradient};
    op::LossRow<L, S, A, Loops, op::TargetRow<L, A>> const row(loops, channels, work.outputs + at,
                                                               target, gradient);
    sum.value += row.evaluate(work.held_loss());
    if (work.correct != nullptr) sum.correct += row.correct();
  }
  /// By one thread, of all positions.
  PHYLLO_FUNCTION void finish(long n, LossOfRows<A> const& sum) const {
    A const positions = A(work.shape.positions());
    A const value = sum.value * (work.weight / positions);
    // What is added to is read before it is written.
    work.values[n] = work.accumulate_values ? work.values[n] + value : value;
    if (work.correct != nullptr) work.correct[n] = sum.correct / positions;
  }
};

/// One team of a device: one of several parts of a sample's positions. A row by each thread, or,
/// with `Lanes` above one, by the lanes of each.
///
/// numerics each thread adds the rows of its positions, and the team what threads have, in an order
///          that the shape decides
template <class L, class P, int Lanes, class Space> struct loss_of_part {
  using A = typename P::accumulate;
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  using Loops = std::conditional_t<(Lanes > 1), op::LaneLoops<Member>, op::SerialLoops>;
  static constexpr int lanes = is_processor<Space> ? 1 : Lanes;
  static constexpr int threads = is_processor<Space> ? 1 : 256 / Lanes;

  loss_evaluate<L, P> loss;
  int parts = 1;

  PHYLLO_FUNCTION void operator()(Member const& member) const {
    auto const& work = loss.work;
    long const n = member.league_rank() / parts, positions = work.shape.positions();
    int const part = int(member.league_rank() % parts);
    int const first = int(positions * part / parts), last = int(positions * (part + 1) / parts);
    LossOfRows<A> sum;
    for (int p = first + member.team_rank(); p < last; p += member.team_size())
      loss.add(n, p, loops(member), sum);
    member.team_reduce(Kokkos::Sum<A>(sum.value));
    if (work.correct != nullptr) member.team_reduce(Kokkos::Sum<A>(sum.correct));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      if (parts == 1) return loss.finish(n, sum);
      work.partial[2 * member.league_rank()] = sum.value;
      work.partial[2 * member.league_rank() + 1] = sum.correct;
    });
  }

 private:
  PHYLLO_FUNCTION static Loops loops(Member const& member) {
    if constexpr (Lanes > 1)
      return {member};
    else
      return {};
  }
};

/// One work item: one sample, whose parts it adds.
template <class L, class P> struct loss_of_parts {
  using A = typename P::accumulate;
  loss_evaluate<L, P> loss;
  int parts = 1;

  PHYLLO_FUNCTION void operator()(long n) const {
    A const* const partial = loss.work.partial + 2 * parts * n;
    LossOfRows<A> sum;
    for (int k = 0; k < parts; ++k) sum += {partial[2 * k], partial[2 * k + 1]};
    loss.finish(n, sum);
  }
};

/// A loss of several positions on a device.
template <bool Few, class L, class P, class Space>
void launch_parts(Space const& exec, std::string const& label,
                  typename op::Loss<L>::template Evaluate<P> const& work) {
  using Part = loss_of_part<L, P, Few ? 1 : 32, Space>;
  int const parts = op::loss_parts(work.shape);
  Part const part{{work}, parts};
  static_assert(sizeof(Part) <= 512, "portable: a functor must be smaller than 512 bytes.");
  if (work.batch == 0) return;
  Kokkos::parallel_for(launch_label(label),
                       team_policy(exec, work.batch * parts, Part::threads, Part::lanes), part);
  if (parts > 1) launch(exec, label, work.batch, loss_of_parts<L, P>{{work}, parts});
}

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
    if constexpr (is_processor<Space>)
      launch(exec, label, work.batch, row_by_thread<loss_evaluate<L, P>, op::VectorLoops>{{work}});
    else if (work.shape.positions() > 1)
      launch_parts<Few, L, P>(exec, label, work);
    else if constexpr (Few)
      launch(exec, label, work.batch, row_by_thread<loss_evaluate<L, P>, op::SerialLoops>{{work}});
    else
      launch_by_teams(exec, label, work.batch, work.shape.channels, loss_evaluate<L, P>{work});
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
