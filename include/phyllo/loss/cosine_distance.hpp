// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// 1 - y . t / (|y| |t|) over the channels: zero where output and target point the same way.
///
/// shape    outputs and targets (N, C) or (N, C, spatial...)
/// errors   none; where a length is zero the value is 1 and the gradient is zero
/// numerics values and gradients in the accumulation type
/// cost     6 flop per element
/// source   Salton and McGill, "Introduction to Modern Information Retrieval", 1983
struct CosineDistance {
  static constexpr char const* name = "cosine_distance";
  static constexpr bool classes = false;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    T const product = y.sum([&](int c) { return y(c) * y.target(c); });
    T const of_output = y.sum([&](int c) { return y(c) * y(c); });
    T const of_target = y.sum([&](int c) { return y.target(c) * y.target(c); });
    T const both = square_root(of_output) * square_root(of_target);
    T const inverse = both > T(0) ? T(1) / both : T(0);
    T const own = both > T(0) ? product * inverse / of_output : T(0);
    y.gradient([&](int c) { return own * y(c) - inverse * y.target(c); });
    // A NaN is no length of zero.
    return both == T(0) ? T(1) : T(1) - product / both;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
