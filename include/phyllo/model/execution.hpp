// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/fusion/recomputation.hpp>
#include <phyllo/fusion/rules.hpp>
#include <phyllo/policy/determinism.hpp>

#include <Kokkos_Core.hpp>

#include <concepts>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// Where and how a model runs.
///
/// options  Space: a Kokkos execution space · BackendList: backends in order of preference · Level:
///          the largest scale of fusion; the first backend with segments states their limits ·
///          Bits: Fastest, or Reproducible for results that do not depend on the number of threads,
///          without the backends that cannot guarantee it · Again: Recomputation::cheap for
///          training that keeps less, for a little more time
template <class Space = Kokkos::DefaultExecutionSpace,
          class BackendList = typename DefaultBackends<Space>::type,
          FusionLevel Level = FusionLevel::tile, class Determinism = Fastest,
          Recomputation Again = Recomputation::marked>
struct Execution {
  using space = Space;
  using memory_space = typename Space::memory_space;
  static constexpr int shards = Determinism::shards;
  using backends = std::conditional_t<(shards > 0), ReproducibleBackends<BackendList>, BackendList>;
  static constexpr FusionLevel fusion = Level;
  static constexpr Recomputation recomputation = Again;
};

/// The members of an Execution.
template <class Exec>
concept ExecutionChoice = requires {
  typename Exec::space;
  typename Exec::backends;
  { Exec::shards } -> std::convertible_to<int>;
  { Exec::fusion } -> std::convertible_to<FusionLevel>;
  { Exec::recomputation } -> std::convertible_to<Recomputation>;
};

}  // namespace phyllo::inline PHYLLO_ISA
