// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::kokkos_kernels {

/// Kernels by the library Kokkos Kernels; ops and precisions that are not here are for the next
/// backend of the list.
template <class Op, class Precision> struct Kernels;

}  // namespace phyllo::inline PHYLLO_ISA::kokkos_kernels
