// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// Whether x is neither infinite nor a NaN, from its bits: compilers may assume that floating-point
/// comparisons never see such numbers (-ffast-math).
PHYLLO_INLINE bool is_finite(float x) {
  return (Kokkos::bit_cast<std::uint32_t>(x) & 0x7f800000u) != 0x7f800000u;
}
PHYLLO_INLINE bool is_finite(double x) {
  constexpr std::uint64_t exponent = 0x7ff0000000000000u;
  return (Kokkos::bit_cast<std::uint64_t>(x) & exponent) != exponent;
}

}  // namespace phyllo::inline PHYLLO_ISA
