// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/position_grid.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The positions of an input that stand alike to a strided window: the same taps reach them. With
/// stride one all positions are one class; a class that no tap reaches has no taps.
struct StridePhase {
  PositionGrid reached;     // in the input
  PositionGrid seen;        // in the output, for each of them: where the last tap is the first
  int taps[3] = {0, 0, 0};  // that reach
  int last[3] = {0, 0, 0};  // the last of them

  static int count(Window const& w) { return w.stride[0] * w.stride[1] * w.stride[2]; }

  StridePhase(Shape const& input, Shape const& output, Window const& w, int number) {
    int const residue[3] = {number / w.stride[2] / w.stride[1], number / w.stride[2] % w.stride[1],
                            number % w.stride[2]};
    for (int d = 0; d < 3; ++d) {
      // Position p = stride m + residue - padding; tap residue + stride j sees output m - j there.
      int const m = (w.padding[d] - residue[d] + w.stride[d] - 1) / w.stride[d];
      int const p = w.stride[d] * m + residue[d] - w.padding[d], extent = input.spatial[d];
      taps[d] = residue[d] < w.size[d] ? (w.size[d] - 1 - residue[d]) / w.stride[d] + 1 : 0;
      last[d] = residue[d] + w.stride[d] * (taps[d] - 1);
      reached.extent[d] = p < extent ? (extent - 1 - p) / w.stride[d] + 1 : 0;
      reached.first[d] = p;
      reached.step[d] = w.stride[d];
      reached.image[d] = extent;
      seen.extent[d] = reached.extent[d];
      seen.first[d] = m - (taps[d] - 1);
      seen.image[d] = output.spatial[d];
    }
  }

  int tap_count() const { return taps[0] * taps[1] * taps[2]; }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
