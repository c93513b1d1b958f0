// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/matrix_operand.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// The weights of a convolution for its gradients by inputs: of some taps, the last one first.
///
/// shape    memory (taps, C, C'); rows (taps in use, C'), columns C
template <class T> struct TapsOperand {
  using value = T;
  static constexpr bool by_rows = false;

  T const* data = nullptr;
  int channels = 0;
  int outputs = 0;
  int size[3] = {1, 1, 1};   // of the window
  int count[3] = {1, 1, 1};  // taps in use
  int last[3] = {0, 0, 0};   // the last one of them, the first here
  int step[3] = {1, 1, 1};   // back to the one before it

  /// (C', C) of tap number i in use.
  MatrixOperand<T, false> tap(int i) const {
    int const at[3] = {last[0] - i / count[2] / count[1] * step[0],
                       last[1] - i / count[2] % count[1] * step[1],
                       last[2] - i % count[2] * step[2]};
    long const t = (long(at[0]) * size[1] + at[1]) * size[2] + at[2];
    return {data + t * channels * outputs, outputs};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
