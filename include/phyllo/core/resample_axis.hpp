// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Where an output coordinate is on an axis of the input: between two numbers, or beyond the
/// border.
template <class T> struct ResamplePoint {
  int first = 0;   // coordinate of the first tap; what is beyond the border is the outermost number
  T fraction = 0;  // of the way from the tap in front to the one behind
};

/// Interpolation along one axis, from `source_extent` numbers to `extent`: which numbers each
/// result is a sum of, and their weights.
///
/// numerics places are quotients of integers, exact until one division: no rounding moves a tap
/// source   Keys, Cubic convolution interpolation for digital image processing, IEEE Trans. ASSP 29
///          (1981) 1153, with a = -3/4 as in torch
struct ResampleAxis {
  int source_extent = 1;
  int extent = 1;
  int taps = 1;          // 1: every number stays; 2: linear; 4: cubic
  bool corners = false;  // the outermost numbers of both are at the same places

  static constexpr ResampleAxis between(int from, int to, int taps, bool corners) {
    return {from, to, from == to ? 1 : taps, corners};
  }

  PHYLLO_INLINE constexpr int clamped(int s) const {
    return s < 0 ? 0 : s < source_extent ? s : source_extent - 1;
  }
  template <class T> PHYLLO_INLINE constexpr ResamplePoint<T> point(int o) const {
    if (taps == 1) return {o, T(0)};
    // One more, so that the quotient is not negative.
    long const place = slope() * o + offset() + denominator();
    long const at = quotient(place, denominator());
    return {int(at) - taps / 2, T(place - at * denominator()) / T(denominator())};
  }
  /// Of the tap `first + k`.
  template <class T> PHYLLO_INLINE constexpr T weight(int k, T fraction) const {
    if (taps == 1) return T(1);
    if (taps == 2) return k == 0 ? T(1) - fraction : fraction;
    T const distance = k < 2 ? fraction + T(1 - k) : T(k - 1) - fraction;
    constexpr double a = -0.75;
    if (k == 1 || k == 2) return (T(a + 2) * distance - T(a + 3)) * distance * distance + T(1);
    return ((T(a) * distance - T(5 * a)) * distance + T(8 * a)) * distance - T(4 * a);
  }

  /// First and last plus one of the results that number s is part of.
  PHYLLO_INLINE constexpr int first_reader(int s) const {
    return taps == 1 ? s : s == 0 ? 0 : begin_at(s - taps / 2);
  }
  PHYLLO_INLINE constexpr int last_reader(int s) const {
    return taps == 1 ? s + 1 : s == source_extent - 1 ? extent : begin_at(s + taps / 2);
  }
  /// The weight of number s in result o.
  template <class T> PHYLLO_INLINE constexpr T weight_of(int s, int o) const {
    ResamplePoint<T> const p = point<T>(o);
    T sum = 0;
    for (int k = 0; k < taps; ++k)
      if (clamped(p.first + k) == s) sum += weight(k, p.fraction);
    return sum;
  }

 private:
  // Result o is at (slope o + offset) / denominator.
  PHYLLO_INLINE constexpr long slope() const {
    return corners ? source_extent - 1 : 2L * source_extent;
  }
  PHYLLO_INLINE constexpr long offset() const { return corners ? 0 : source_extent - extent; }
  PHYLLO_INLINE constexpr long denominator() const {
    return !corners ? 2L * extent : extent > 1 ? extent - 1 : 1;
  }
  // Divides 32-bit numbers as such: a device has no instruction for others.
  PHYLLO_INLINE static constexpr long quotient(long a, long b) {
    return a <= 2147483647 ? long(int(a) / int(b)) : a / b;
  }
  // The first result that is at s or behind it.
  PHYLLO_INLINE constexpr int begin_at(int s) const {
    long const distance = s * denominator() - offset();
    if (distance <= 0) return 0;
    long const o = quotient(distance + slope() - 1, slope());
    return o < extent ? int(o) : extent;
  }
};

/// Interpolation of a sample along depth, height and width.
struct ResampleAxes {
  ResampleAxis axis[3] = {};

  constexpr bool is_identity() const { return axis[0].taps * axis[1].taps * axis[2].taps == 1; }
  PHYLLO_INLINE constexpr int source_positions() const {
    return axis[0].source_extent * axis[1].source_extent * axis[2].source_extent;
  }
  PHYLLO_INLINE constexpr int positions() const {
    return axis[0].extent * axis[1].extent * axis[2].extent;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
