// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Partial sums of a row on a processor: what hides the latency of additions to vectors, and no
/// more, because compilers unroll loops over them.
inline constexpr int row_lanes = PHYLLO_VECTOR_BYTES >= 64   ? 64
                                 : PHYLLO_VECTOR_BYTES >= 32 ? 32
                                                             : 16;

namespace detail {

// Whole blocks of `Lanes` channels only, in as many partial sums, which are added as a binary tree;
// gives how many channels they were.
template <int Lanes, class T, class X, class Y>
PHYLLO_INLINE int add_products(int channels, X const& x, Y const& y, T& sum) {
  T part[Lanes] = {};
  int c = 0;
  for (; c + Lanes <= channels; c += Lanes) {
    PHYLLO_SIMD(16)
    for (int l = 0; l < Lanes; ++l) part[l] += x(c + l) * y(c + l);
  }
  for (int width = Lanes / 2; width > 0; width /= 2) {
    PHYLLO_SIMD(16)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  }
  sum += part[0];
  return c;
}

}  // namespace detail

/// The sum over c of x_c y_c, on a processor in as many partial sums as fill its vectors.
template <class T, class X, class Y>
PHYLLO_INLINE T dot_product(int channels, X const& x, Y const& y) {
  T sum = 0;
  int c = 0;
  KOKKOS_IF_ON_HOST(
      (if (channels >= row_lanes) c = detail::add_products<row_lanes>(channels, x, y, sum);
       else if (channels >= 16) c = detail::add_products<16>(channels, x, y, sum);))
  for (; c < channels; ++c) sum += x(c) * y(c);
  return sum;
}

}  // namespace phyllo::inline PHYLLO_ISA::op
