// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Between the caller's View and a channels-last arena slot, with conversion of the element type.
///
/// shape    external (N, C, D, H, W) with run-time strides <-> slot (N, S, C)
/// cost     one read, one write
struct Transfer {
  template <class Precision> struct Load {
    int batch = 0;
    Shape shape;
    ExternalTensor source;
    typename Precision::storage* slot = nullptr;
  };
  template <class Precision> struct Store {
    int batch = 0;
    Shape shape;
    typename Precision::storage const* slot = nullptr;
    ExternalTensor target;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
