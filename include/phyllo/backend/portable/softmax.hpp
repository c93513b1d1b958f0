// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/dot_product.hpp>
#include <phyllo/op/row.hpp>
#include <phyllo/op/row_team.hpp>
#include <phyllo/op/softmax.hpp>
#include <phyllo/op/softmax_row.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one row.
template <class P> struct softmax_forward {
  using A = typename P::accumulate;
  op::Softmax::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    int const channels = work.channels;
    op::OutputRow<typename P::storage, A> const x{work.x + r * channels};
    auto* const y = work.y + r * channels;
    if constexpr (std::is_same_v<typename P::storage, A>) {
      KOKKOS_IF_ON_HOST((if (channels >= op::SoftmaxPass<A>::lanes) {
        op::softmax_into<A>(channels, x, A(1), y);
        return;
      }))
    }
    op::SoftmaxSum<A> const s = op::softmax_sum<A>(channels, x);
    A const share = A(1) / s.sum;
    op::GradientRow<typename P::storage, A> const to{y};
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) to(c, decay(x(c) - s.largest) * share);
  }
};

template <class P> struct softmax_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Softmax::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long r) const {
    auto const* const y = work.y + r * work.channels;
    auto const* const d_y = work.d_y + r * work.channels;
    auto* const d_x = work.d_x + r * work.channels;
    int const channels = work.channels;
    A const dot = op::dot_product<A>(channels, op::OutputRow<S, A>{y}, op::OutputRow<S, A>{d_y});
    op::GradientRow<S, A> const to{d_x, A(1), work.accumulate};
    PHYLLO_SIMD(16)
    for (int c = 0; c < channels; ++c) to(c, A(y[c]) * (A(d_y[c]) - dot));
  }
};

/// One team: one row.
template <class P, class Space> struct softmax_forward_by_team {
  using A = typename P::accumulate;
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  op::Softmax::Forward<P> work;

  PHYLLO_FUNCTION void operator()(Member const& member) const {
    long const at = long(member.league_rank()) * work.channels;
    op::RowTeam<Member> const team{member};
    op::OutputRow<typename P::storage, A> const x{work.x + at};
    op::GradientRow<typename P::storage, A> const to{work.y + at};
    op::SoftmaxSum<A> const s = team.template softmax_sum<A>(work.channels, x);
    team.for_each(work.channels, [&](int c) { to(c, decay(x(c) - s.largest) / s.sum); });
  }
};

template <class P, class Space> struct softmax_backward_by_team {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  op::Softmax::Backward<P> work;

  PHYLLO_FUNCTION void operator()(Member const& member) const {
    long const at = long(member.league_rank()) * work.channels;
    op::RowTeam<Member> const team{member};
    op::OutputRow<S, A> const y{work.y + at}, d_y{work.d_y + at};
    op::GradientRow<S, A> const to{work.d_x + at, A(1), work.accumulate};
    A const dot = team.template sum<A>(work.channels, [&](int c, A& sum) { sum += y(c) * d_y(c); });
    team.for_each(work.channels, [&](int c) { to(c, y(c) * (d_y(c) - dot)); });
  }
};

template <class P> struct Kernels<op::Softmax, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Softmax::Forward<P> const& work) {
    if constexpr (!is_processor<Space>)
      if (work.channels >= shared_channels) return run_by_teams(exec, label, work);
    launch(exec, label, work.rows, softmax_forward<P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Softmax::Backward<P> const& work) {
    if constexpr (!is_processor<Space>)
      if (work.channels >= shared_channels) return run_by_teams(exec, label, work);
    launch(exec, label, work.rows, softmax_backward<P>{work});
  }
  template <class Space>
  static void run_by_teams(Space const& exec, std::string const& label,
                           op::Softmax::Forward<P> const& work) {
    launch_teams(exec, label, work.rows, work.channels, softmax_forward_by_team<P, Space>{work});
  }
  template <class Space>
  static void run_by_teams(Space const& exec, std::string const& label,
                           op::Softmax::Backward<P> const& work) {
    launch_teams(exec, label, work.rows, work.channels, softmax_backward_by_team<P, Space>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
