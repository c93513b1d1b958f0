// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// Quotients by a number that kernels divide by often: a multiplication and a shift.
///
/// source   Granlund and Montgomery, "Division by Invariant Integers using Multiplication",
///          PLDI 1994
struct Divisor {
  unsigned by = 1;
  unsigned factor = 1;
  unsigned shift = 0;

  Divisor() = default;
  /// Zero, the extent of nothing, becomes one.
  explicit Divisor(unsigned number) : by(number > 0 ? number : 1) {
    while ((std::uint64_t(1) << shift) < by) ++shift;
    factor = unsigned(((std::uint64_t(1) << 32) * ((std::uint64_t(1) << shift) - by)) / by + 1);
  }
  /// Of n < 2^31.
  PHYLLO_INLINE unsigned quotient(unsigned n) const {
    return (unsigned(std::uint64_t(n) * factor >> 32) + n) >> shift;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
