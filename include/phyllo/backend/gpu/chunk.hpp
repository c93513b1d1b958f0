// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// 16 bytes of numbers side by side, which a thread reads or writes in one access.
template <class S> struct alignas(16) Chunk {
  static constexpr int numbers = 16 / int(sizeof(S));
  S value[numbers];

  /// Zeros where there is nothing to read.
  PHYLLO_INLINE static Chunk read(S const* from) {
    return from != nullptr ? *reinterpret_cast<Chunk const*>(from) : Chunk{};
  }
  PHYLLO_INLINE void write(S* to) const { *reinterpret_cast<Chunk*>(to) = *this; }

  /// Whether rows of so many numbers consist of chunks, in each of the tensors that there are.
  template <class... T> static bool divides(int count, T const*... tensor) {
    return count % numbers == 0 && ((reinterpret_cast<std::uintptr_t>(tensor) % 16 == 0) && ...);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
