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
template <int Lanes, class T, class Body>
PHYLLO_INLINE int add_channels(int channels, Body const& body, T& sum) {
  T part[Lanes] = {};
  int c = 0;
  for (; c + Lanes <= channels; c += Lanes) {
    PHYLLO_SIMD(16)
    for (int l = 0; l < Lanes; ++l) body(c + l, part[l]);
  }
  for (int width = Lanes / 2; width > 0; width /= 2) {
    PHYLLO_SIMD(16)
    for (int l = 0; l < width; ++l) part[l] += part[l + width];
  }
  sum += part[0];
  return c;
}

template <class T, class X, class Y> struct AddProducts {
  X const& x;
  Y const& y;
  PHYLLO_INLINE void operator()(int c, T& sum) const { sum += x(c) * y(c); }
};

}  // namespace detail

/// The sum over channels of what body(c, sum) adds, on a processor in as many partial sums as fill
/// its vectors.
template <class T, class Body> PHYLLO_INLINE T sum_channels(int channels, Body const& body) {
  T sum = 0;
  int c = 0;
  KOKKOS_IF_ON_HOST(
      (if (channels >= row_lanes) c = detail::add_channels<row_lanes>(channels, body, sum);
       else if (channels >= 16) c = detail::add_channels<16>(channels, body, sum);))
  for (; c < channels; ++c) body(c, sum);
  return sum;
}

/// The sum over c of x_c y_c.
template <class T, class X, class Y>
PHYLLO_INLINE T dot_product(int channels, X const& x, Y const& y) {
  return sum_channels<T>(channels, detail::AddProducts<T, X, Y>{x, y});
}

}  // namespace phyllo::inline PHYLLO_ISA::op
