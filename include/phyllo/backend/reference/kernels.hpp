// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::reference {

/// Kernels of one op: plain loops on one thread that a reader believes, the oracle of all tests.
template <class Op, class Precision> struct Kernels;

/// Waits for the instance, so that plain loops see what was launched before them.
template <class Space> void wait(Space const& exec) {
  static_assert(Kokkos::SpaceAccessibility<Kokkos::DefaultHostExecutionSpace,
                                           typename Space::memory_space>::accessible,
                "reference: plain loops require memory that the host can access.");
  exec.fence("phyllo: reference");
}

}  // namespace phyllo::inline PHYLLO_ISA::reference
