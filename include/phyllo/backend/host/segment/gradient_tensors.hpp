// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The parameter gradients of a piece of the batch: a row that begins with element `first` of the
/// arena.
template <class A> struct GradientTensors {
  A* row = nullptr;
  int const* weight = nullptr;  // of each layer: elements from the start of the arena
  int const* bias = nullptr;
  int first = 0;

  PHYLLO_INLINE_ON_HOST A* of_weight(int layer) const { return row + (weight[layer] - first); }
  /// nullptr: none.
  PHYLLO_INLINE_ON_HOST A* of_bias(int layer) const {
    return bias[layer] < 0 ? nullptr : row + (bias[layer] - first);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
