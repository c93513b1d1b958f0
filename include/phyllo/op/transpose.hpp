// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Exchanges positions and channels of each sample: (N, S, C) -> (N, C, S). A Flatten that not only
/// Linear layers read is one, so that flat features have the field's order (C, S).
///
/// cost     one read, one write
struct Transpose {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    int rows = 0;                // of x
    int columns = 0;             // of x
    storage const* x = nullptr;  // (N, rows, columns)
    storage* y = nullptr;        // (N, columns, rows)
    bool accumulate = false;
  };
  // The backward pass is the same op with rows and columns exchanged.
};

}  // namespace phyllo::inline PHYLLO_ISA::op
