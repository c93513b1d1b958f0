// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Nearest-neighbour upsampling by a whole factor in each spatial dimension.
///
/// shape    x (N, S, C) -> y (N, S', C), output.spatial[d] = factor[d] input.spatial[d]
/// cost     one read, factor writes
struct Upsample {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  /// d_x (+)= sum over the block of d_y that a position was copied to.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
