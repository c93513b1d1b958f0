// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Channels [from, from + channels) of every row of x into channels [to, to + channels) of y: the
/// concatenation, its adjoint, and the sum of gradients where a value has several readers.
///
/// shape    x (rows, x_channels) · y (rows, y_channels); rows = N times positions
/// cost     one read, one write (two reads when accumulating)
struct Copy {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    long rows = 0;
    int channels = 0;
    int x_channels = 0, from = 0;
    int y_channels = 0, to = 0;
    storage const* x = nullptr;
    storage* y = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
