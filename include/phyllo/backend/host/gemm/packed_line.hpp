// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/core/macros.hpp>

#include <cstring>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Writes runs of numbers to a packed line by whole vectors; a line has room for one vector more.
struct PackedLine {
  template <class To> static constexpr int vector = InstructionSet::bytes / int(sizeof(To));

  template <class To> PHYLLO_INLINE_ON_HOST static void clear(int count, To* to) {
    for (int i = 0; i < count; i += vector<To>)
      std::memset(static_cast<void*>(to + i), 0, InstructionSet::bytes);
  }
  /// `end` is the end of the source's memory: the last numbers before it are copied one by one.
  template <class T, class To>
  PHYLLO_INLINE_ON_HOST static void copy(T const* from, T const* end, int count, To* to) {
    int i = 0;
    if (end - from >= count + vector<To>)
      for (; i < count; i += vector<To>) {
        if constexpr (std::is_same_v<T, To>)
          std::memcpy(static_cast<void*>(to + i), from + i, InstructionSet::bytes);
        else
          InstructionSet::store(to + i, InstructionSet::load(from + i));
      }
    for (; i < count; ++i) to[i] = To(from[i]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
