// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/rules.hpp>

#include <Kokkos_Core.hpp>

namespace phyllo {

/// Where and how a model runs.
///
/// options  Space: a Kokkos execution space · BackendList: backends in order of preference ·
///          How: how far the planner may fuse
template <class Space = Kokkos::DefaultExecutionSpace,
          class BackendList = typename DefaultBackends<Space>::type, Fusion How = Fusion::segment>
struct Execution {
  using space = Space;
  using memory_space = typename Space::memory_space;
  using backends = BackendList;
  static constexpr Fusion fusion = How;
};

}  // namespace phyllo
