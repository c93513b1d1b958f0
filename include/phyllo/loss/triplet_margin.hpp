// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// max(0, |a - p| - |a - n| + margin) for the three thirds a, p and n of the channels: an anchor, a
/// sample like it, and one that is not; torch's TripletMarginLoss. Pass no_targets.
///
/// shape    outputs (N, 3 C) or (N, 3 C, spatial...)
/// options  margin = 1 · epsilon = 1e-6 on each difference
/// errors   compile: channels that are no three thirds
/// numerics values and gradients in the accumulation type; the derivative at the margin is zero,
///          and that of a length of zero
/// cost     7 flop per channel, the gradient 6
/// source   Balntas et al., "Learning local feature descriptors with triplets", BMVC 2016, §2;
///          torch.nn.functional.triplet_margin_loss, PyTorch 2.14
struct TripletMargin {
  static constexpr char const* name = "triplet_margin";
  static constexpr bool classes = false;
  static constexpr int outputs_per_target = 0, parts = 3;
  double margin = 1;
  double epsilon = 1e-6;

  template <class Row> PHYLLO_FUNCTION auto operator()(Row const& y) const {
    using T = typename Row::number;
    int const size = y.channels() / 3;
    // From the anchor to part k.
    auto const difference = [&](int c, int k) { return y(c) - y(k * size + c) + T(epsilon); };
    auto const distance = [&](int k) {
      return square_root(y.sum(size, [&](int c) {
        T const d = difference(c, k);
        return d * d;
      }));
    };
    T const near = distance(1), far = distance(2), value = near - far + T(margin);
    T const none = value < T(0) ? T(0) : value * T(0);  // not a number stays that
    T const of_near = value > T(0) && near > T(0) ? T(1) / near : none;
    T const of_far = value > T(0) && far > T(0) ? T(1) / far : none;
    y.gradient(0, size,
               [&](int c) { return of_near * difference(c, 1) - of_far * difference(c, 2); });
    y.gradient(size, size, [&](int c) { return -of_near * difference(c - size, 1); });
    y.gradient(2 * size, size, [&](int c) { return of_far * difference(c - 2 * size, 2); });
    return value < T(0) ? T(0) : value;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
