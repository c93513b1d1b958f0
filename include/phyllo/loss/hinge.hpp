// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Mean over the channels of max(0, 1 - target y) for targets -1 and 1: a linear classifier of
/// largest margin for each channel.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// errors   none
/// numerics values and gradients in the accumulation type; the derivative at the margin is zero
/// cost     3 flop per element
/// source   Cortes and Vapnik, "Support-Vector Networks", Machine Learning 20 (1995) 273
struct Hinge {
  static constexpr char const* name = "hinge";
  static constexpr bool classes = false, mean_of_channels = true;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const share = T(1) / T(y.channels());
    auto const slack = [&](int c) { return T(1) - y.target(c) * y(c); };
    y.gradient([&](int c) {
      // Of what is not a number neither.
      T const s = slack(c), above = s > T(0) ? -share : s * T(0);
      T const active = s < T(0) ? T(0) : above;
      return active * y.target(c);
    });
    return share * y.sum([&](int c) {
      T const s = slack(c);
      return s < T(0) ? T(0) : s;
    });
  }
};

/// Mean over all channels of max(0, margin - z[class] + z[c]), c other than the class; torch's
/// MultiMarginLoss.
///
/// shape    as CrossEntropy
/// options  margin = 1, above 0
/// errors   as CrossEntropy
/// numerics values and gradients in the accumulation type; the derivative at the margin is zero
/// cost     3 flop per logit
/// source   Crammer and Singer, "On the Algorithmic Implementation of Multiclass Kernel-Based
///          Vector Machines", JMLR 2 (2001) 265; with a sum: Weston and Watkins, ESANN 1999
struct MultiMargin {
  static constexpr char const* name = "multi_margin";
  static constexpr bool classes = true;
  double margin = 1;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& z) const {
    using T = typename Row::number;
    T const share = T(1) / T(z.channels()), of_class = z.at_label(z);
    auto const slack = [&](int c) {
      T const s = T(margin) - of_class + z(c);
      return (T(1) - z.is_label(c)) * (s < T(0) ? T(0) : s);
    };
    // Of what is not a number neither.
    auto const counted = [&](int c) {
      T const s = slack(c);
      return s > T(0) ? T(1) : s * T(0);
    };
    T const active = z.sum(counted);
    z.gradient([&](int c) { return share * (counted(c) - z.is_label(c) * active); });
    return share * z.sum(slack);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
