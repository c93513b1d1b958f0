// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/dense_tile.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Weights (In, Out) in the arena as those of the product that gives the gradient of the input.
///
/// shape    weight (In, Out) -> to (Out, In), rows `Stride` apart
template <int In, int Out, int Stride, class S, class A>
void transpose_weights(S const* weight, A* to) {
  constexpr int n = lanes<A>;
  constexpr int squares = std::is_same_v<S, A> ? Out / n * n : 0;
  for (int i = 0; i < In; i += n) {
    if constexpr (squares > 0)
      if (i + n <= In)
        for (int o = 0; o < squares; o += n)
          VectorSquare<A>::transpose(weight + i * Out + o, Out, to + o * Stride + i, Stride);
    int const last = i + n < In ? i + n : In;
    for (int row = i; row < last; ++row)
      for (int o = i + n <= In ? squares : 0; o < Out; ++o)
        to[o * Stride + row] = A(weight[row * Out + o]);
  }
}

}  // namespace phyllo::inline PHYLLO_ISA::host
