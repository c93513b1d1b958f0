// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A contraction that is a plain product of matrices: x (rows, depth) times weight (depth,
/// outputs).
struct GemmShape {
  bool plain = false;
  long rows = 0;
  long depth = 0;

  /// One tap at every position (Linear, convolutions 1x1), or one position that sees the whole
  /// input (Linear behind Flatten).
  GemmShape(int batch, Shape const& input, Window const& w) {
    bool every = true, whole = true;
    for (int d = 0; d < 3; ++d) {
      every &= w.size[d] == 1 && w.stride[d] == 1 && w.padding[d] == 0;
      whole &= w.size[d] == input.spatial[d] && w.padding[d] == 0;
    }
    plain = every || whole;
    rows = every ? long(batch) * input.positions() : batch;
    depth = every ? input.channels : input.size();
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
