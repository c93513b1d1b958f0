// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA::host {

/// Numbers from the type of sums into that of storage. Bits are stored, because compilers make no
/// vectors of a class.
template <class S, class A>
PHYLLO_INLINE_ON_HOST void store_numbers(A const* from, int count, S* to) {
  if constexpr (sizeof(S) == 2) {
    auto* const bits = reinterpret_cast<std::uint16_t*>(to);
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) bits[i] = S(from[i]).bits();
  } else {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) to[i] = from[i];
  }
}

/// sums += numbers of the storage type.
template <class S, class A>
PHYLLO_INLINE_ON_HOST void add_numbers(S const* from, int count, A* sums) {
  if constexpr (sizeof(S) == 2) {
    auto const* const bits = reinterpret_cast<std::uint16_t const*>(from);
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) sums[i] += A(S::from_bits(bits[i]));
  } else {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) sums[i] += from[i];
  }
}

/// Number i in the type of sums, in loops that become vectors.
template <class A, class S> PHYLLO_INLINE_ON_HOST A number(S const* from, int i) {
  if constexpr (sizeof(S) == 2)
    return A(S::from_bits(reinterpret_cast<std::uint16_t const*>(from)[i]));
  else
    return A(from[i]);
}
/// sums += numbers of each of some rows, a stride apart; four rows at a time, which takes fewer
/// reads and writes of the sums.
template <class S, class A>
PHYLLO_INLINE_ON_HOST void add_number_rows(S const* a, int rows, long stride, int count, A* sums) {
  int r = 0;
  for (; r + 4 <= rows; r += 4, a += 4 * stride) {
    S const *const b = a + stride, *const c = b + stride, *const d = c + stride;
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i)
      sums[i] += (number<A>(a, i) + number<A>(b, i)) + (number<A>(c, i) + number<A>(d, i));
  }
  for (; r < rows; ++r, a += stride) add_numbers(a, count, sums);
}
template <class S, class A> PHYLLO_INLINE_ON_HOST void store_number(A value, S* to, int i) {
  if constexpr (sizeof(S) == 2)
    reinterpret_cast<std::uint16_t*>(to)[i] = S(value).bits();
  else
    to[i] = S(value);
}

/// A number as the storage type keeps it.
template <class S, class A> PHYLLO_INLINE_ON_HOST A rounded_to(A value) {
  if constexpr (sizeof(S) == 2)
    return A(S::from_bits(S(value).bits()));
  else
    return A(S(value));
}

}  // namespace phyllo::inline PHYLLO_ISA::host
