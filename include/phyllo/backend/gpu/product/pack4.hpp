// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Four numbers side by side, which a lane reads or writes in one access.
template <class S> struct alignas(4 * sizeof(S)) Pack4 {
  S value[4];
};

/// Channels c to c + 3 of a row of Count, whose first is aligned where Count is a multiple of 4;
/// beyond the last zero.
template <int Count, class S> PHYLLO_INLINE Pack4<S> read_four(S const* row, int c) {
  S const* const from = row + c;
  Pack4<S> four = {};
  if constexpr (Count % 4 == 0) {
    if (c < Count) four = *reinterpret_cast<Pack4<S> const*>(from);
  } else {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      if (c + i < Count) four.value[i] = from[i];
  }
  return four;
}

}  // namespace phyllo::inline PHYLLO_ISA::gpu
