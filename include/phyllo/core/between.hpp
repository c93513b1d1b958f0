// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// x, moved to the nearer of two limits where it is outside of them; a not-a-number stays one.
template <class T> PHYLLO_INLINE T between(T low, T x, T high) {
  return chosen(x < low, low, chosen(x > high, high, x));
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
