// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A vector register of the compiler's target, with + and * lane by lane and with one number; where
/// the compiler has no such types, one number.
template <class T> struct LaneVector {
#if PHYLLO_VECTOR_BYTES > 0
  static constexpr int lanes = PHYLLO_VECTOR_BYTES / int(sizeof(T));
  typedef T type __attribute__((vector_size(PHYLLO_VECTOR_BYTES)));
#else
  static constexpr int lanes = 1;
  using type = T;
#endif
};

}  // namespace phyllo::inline PHYLLO_ISA
