// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::kokkos_kernels {

/// Which layers the library gets: those with blocks for several multiprocessors.
///
/// Not measured: no device has executed this component.
struct Wide {
  static constexpr long least_rows = 256;
  static constexpr long least_width = 64;  // of inputs and of outputs

  static bool takes(long rows, long depth, long outputs) {
    return rows >= least_rows && depth >= least_width && outputs >= least_width;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::kokkos_kernels
