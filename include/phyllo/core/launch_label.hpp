// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// The label of a launch. Kokkos 5 copies a label into a string of its own, and a long one
/// allocates at every launch; it is empty unless a profiler is loaded.
inline char const* launch_label(std::string const& label) {
  return Kokkos::Tools::profileLibraryLoaded() ? label.c_str() : "";
}
inline char const* launch_label(char const* label) {
  return Kokkos::Tools::profileLibraryLoaded() ? label : "";
}

}  // namespace phyllo::inline PHYLLO_ISA
