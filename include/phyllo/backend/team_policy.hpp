// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/by_argument.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Teams of an instance, each of `threads` by `lanes` threads.
///
/// cost     Kokkos before 5.2 takes memory of a device for teams that ask for none, anew at every
///          launch, which a step that is recorded must not. Of a few bytes it keeps what it has.
template <class Space, class... Properties>
auto team_policy(Space const& exec, int teams, int threads, int lanes = 1) {
  Kokkos::TeamPolicy<Space, Properties...> policy(exec, teams, threads, lanes);
#if KOKKOS_VERSION < 50200
  if constexpr (!is_processor<Space>) policy.set_scratch_size(1, Kokkos::PerTeam(8));
#endif
  return by_argument(policy);
}

}  // namespace phyllo::inline PHYLLO_ISA
