// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::blas_lt {

enum class Pass : unsigned char { forward, backward_input, backward_parameters };

/// Which layers the library gets: those that fill a device with blocks of 128 by 128 or more, which
/// its kernels are made for. Numbers of 16 bits only: of float, backend/gpu makes products on
/// matrix cores in three parts, and the library on the vector units.
///
/// Not measured: no device has executed this component. perf/run on one says where the border is.
struct Wide {
  static constexpr long least_rows = 1024;
  static constexpr long least_width = 256;  // of inputs and of outputs

  template <class Storage> static bool takes(Pass, long rows, long depth, long outputs) {
    return sizeof(Storage) == 2 && rows >= least_rows && depth >= least_width &&
           outputs >= least_width;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::blas_lt
