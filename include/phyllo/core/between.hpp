// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// x, moved to the nearer of two limits where it is outside of them; a not-a-number stays one.
///
/// One choice: of two that follow each other GCC makes branches, and a loop around them does not
/// become vectors.
template <class T> PHYLLO_FUNCTION constexpr T between(T low, T x, T high) {
  T const nearer = x > T(0.5) * low + T(0.5) * high ? high : low;
  return ((x < low) | (x > high)) ? nearer : x;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
