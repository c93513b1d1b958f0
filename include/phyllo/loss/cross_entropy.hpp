// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <Kokkos_NumericTraits.hpp>

namespace phyllo {

/// Softmax cross-entropy of logits against class numbers: log(sum of exp(z)) - z[class].
///
/// shape    outputs (N, C) or (N, C, spatial...) · targets (N) or (N, spatial...), integers 0..C-1
/// errors   run: a class number outside 0..C-1 makes the loss of the sample not a number
/// numerics shifted by the largest logit; values and gradients in the accumulation type, the
///          exponentials of core/elementary.hpp
/// cost     2 exponentials per logit
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 4.108
struct CrossEntropy {
  static constexpr char const* name = "cross_entropy";
  static constexpr bool classes = true;  // targets are class numbers, one per position

  /// Loss of one row. `z(c)` reads logit c, `gradient(c, value)` takes d loss / d z_c (called only
  /// when wanted), `target(c)` reads the target (argument ignored for classes).
  template <class T, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row(int channels, Outputs const& z, Target const& target,
                               Gradient const& gradient) {
    auto const label = static_cast<long>(target(0));
    T largest = z(0);
    for (int c = 1; c < channels; ++c) largest = z(c) > largest ? z(c) : largest;
    T sum = 0;
    for (int c = 0; c < channels; ++c) sum += exponential(z(c) - largest);
    if (gradient.wanted())
      for (int c = 0; c < channels; ++c)
        gradient(c, exponential(z(c) - largest) / sum - (c == label ? T(1) : T(0)));
    if (label < 0 || label >= channels) return Kokkos::Experimental::quiet_NaN_v<T>;
    return Kokkos::log(sum) + largest - z(int(label));
  }
};

}  // namespace phyllo
