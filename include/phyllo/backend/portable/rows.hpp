// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/row_loops.hpp>
#include <phyllo/op/row_team.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one row of a functor rows(r, loops).
template <class Rows, class Loops> struct row_by_thread {
  Rows rows;
  PHYLLO_FUNCTION void operator()(long r) const { rows(r, Loops{}); }
};

/// One team: one row.
template <class Rows, class Space> struct row_by_team {
  using Member = typename Kokkos::TeamPolicy<Space>::member_type;
  Rows rows;
  PHYLLO_FUNCTION void operator()(Member const& member) const {
    rows(long(member.league_rank()), op::TeamLoops<Member>{member});
  }
};

template <class Space, class Rows>
void launch_by_teams(Space const& exec, std::string const& label, long count, int channels,
                     Rows const& rows) {
  launch_teams(exec, label, count, channels, row_by_team<Rows, Space>{rows});
}

/// Rows by threads; on a device, where they are long, by teams.
template <class Space, class Rows>
void launch_rows(Space const& exec, std::string const& label, long count, int channels,
                 Rows const& rows) {
  if constexpr (!is_processor<Space>)
    if (channels >= shared_channels) return launch_by_teams(exec, label, count, channels, rows);
  using Loops = std::conditional_t<is_processor<Space>, op::VectorLoops, op::SerialLoops>;
  launch(exec, label, count, row_by_thread<Rows, Loops>{rows});
}

}  // namespace phyllo::inline PHYLLO_ISA::portable
