// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <cstdint>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Runs functor(0 .. count - 1) on the caller's thread, for work that takes less time than it takes
/// to start the others; only where `in_order<Space>`. Profilers see it all the same.
template <class Space, class Functor>
void run_here(Space const& exec, std::string const& label, int count, Functor const& functor) {
  std::uint64_t id = 0;
  bool const profiled = Kokkos::Tools::profileLibraryLoaded();
  if (profiled)
    Kokkos::Tools::beginParallelFor(label, Kokkos::Tools::Experimental::device_id(exec), &id);
  for (int i = 0; i < count; ++i) functor(i);
  if (profiled) Kokkos::Tools::endParallelFor(id);
}

}  // namespace phyllo::inline PHYLLO_ISA
