// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/random.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// sqrt(-2 ln(1 - u)), u uniform in [0, 1): the logarithm is finite.
PHYLLO_INLINE float normal_radius(std::uint32_t bits) {
  return square_root(-2.0f * logarithm(1.0f - uniform01(bits)));
}

// cos(2 pi v), or sin(2 pi v) = cos(2 pi (v - 1/4)) for an odd element: -sin(2 pi s) with |s| <=
// 1/4, by the odd Taylor polynomial of degree 11, off by 6e-8 at most. s is computed in integers
// of 2^-24, because GCC makes branches of comparisons of floats.
PHYLLO_INLINE float normal_direction(std::uint32_t bits, std::uint32_t odd) {
  std::uint32_t const w = ((bits >> 8) - (odd << 22)) & 0xffffffu;
  std::int32_t const from_half = std::int32_t(w) - (1 << 23);
  std::int32_t const units = (1 << 22) - (from_half < 0 ? -from_half : from_half);
  float const s = float(units) * 0x1p-24f;
  float const q = s * s;
  return -s * (6.28318531f +
               q * (-41.3417022f +
                    q * (81.6052493f + q * (-76.7058597f + q * (42.0586939f - 15.0946426f * q)))));
}

}  // namespace detail

/// A number of the normal distribution of mean zero and deviation one under its name. Two
/// neighbouring elements, 2 j and 2 j + 1, share a pair of uniform numbers u and v and get
/// sqrt(-2 ln(1 - u)) times cos(2 pi v) and times sin(2 pi v).
///
/// numerics in float, at most 5.8 deviations; a GPU's logarithm and square root may differ in the
///          last bits
/// cost     one Philox block, a logarithm and a square root
/// source   Box and Muller, Ann. Math. Statist. 29 (1958) 610
PHYLLO_INLINE float random_normal(RandomKey const& name) {
  PhiloxBlock const block = random_block(name);
  bool const upper = (name.element & 2u) != 0;
  return detail::normal_radius(upper ? block.word[2] : block.word[0]) *
         detail::normal_direction(upper ? block.word[3] : block.word[1], name.element & 1u);
}

}  // namespace phyllo::inline PHYLLO_ISA
