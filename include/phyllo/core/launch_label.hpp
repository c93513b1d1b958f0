// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// A kernel's label as a launch is given it: Kokkos 5 copies it into a string of its own, which
/// allocates at every launch where it is long. Without a profiler nobody reads it.
inline char const* launch_label(std::string const& label) {
  return Kokkos::Tools::profileLibraryLoaded() ? label.c_str() : "";
}
inline char const* launch_label(char const* label) {
  return Kokkos::Tools::profileLibraryLoaded() ? label : "";
}

}  // namespace phyllo::inline PHYLLO_ISA
