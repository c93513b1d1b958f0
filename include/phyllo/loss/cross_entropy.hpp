// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/external_tensor.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/op/softmax_row.hpp>

#include <Kokkos_MathematicalFunctions.hpp>
#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Softmax cross-entropy of logits against class indices: log(sum of exp(z)) - z[class].
///
/// shape    outputs (N, C) or (N, C, spatial...) · targets (N) or (N, spatial...), integers 0..C-1
/// errors   run: a class index outside 0..C-1 makes the loss of the sample not a number; a step
///          with one is skipped, and Trainer::loss or evaluate throws an Error
/// numerics shifted by the largest logit; values and gradients in the accumulation type, the
///          exponentials of core/elementary.hpp
/// cost     2 exponentials per logit
/// source   Bishop, "Pattern Recognition and Machine Learning", 2006, eq. 4.108
struct CrossEntropy {
  static constexpr char const* name = "cross_entropy";
  static constexpr bool classes = true;  // targets are class indices, one per position

  /// Loss of one row. `z(c)` reads logit c, `gradient(c, value)` receives d loss / d z_c (called
  /// only if it is needed), `target(c)` reads the target (the argument is ignored for classes).
  template <class T, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row(int channels, Outputs const& z, Target const& target,
                               Gradient const& gradient) {
    auto const wanted = static_cast<long>(target(0));
    int const label = wanted >= 0 && wanted < channels ? int(wanted) : -1;
    op::SoftmaxSum<T> s;
    bool in_place = false;
    if constexpr (requires { gradient.exact(); }) {
      KOKKOS_IF_ON_HOST((in_place = gradient.exact() != nullptr && channels >= 64;))
      if (in_place) {
        s = op::softmax_into<T>(channels, z, gradient.factor, gradient.exact());
        if (label >= 0) gradient.exact()[label] -= gradient.factor;
      }
    }
    if (!in_place) s = op::softmax_sum<T>(channels, z);
    if (!in_place && gradient.wanted()) {
      T const share = T(1) / s.sum;
      int const others = label < 0 ? channels : label;
      store_gradients<T>(0, others, z, s.largest, share, gradient);
      store_gradients<T>(others + 1, channels, z, s.largest, share, gradient);
      if (label >= 0) gradient(label, decay(z(label) - s.largest) * share - T(1));
    }
    if (label < 0) return Kokkos::Experimental::quiet_NaN_v<T>;
    return logarithm(s.sum) + s.largest - z(label);
  }

  /// The same by a team that shares the row (op/row_team.hpp); every thread has the result.
  static constexpr bool by_team = true;
  template <class T, class Team, class Outputs, class Target, class Gradient>
  PHYLLO_FUNCTION static T row_by_team(Team const& team, int channels, Outputs const& z,
                                       Target const& target, Gradient const& gradient) {
    auto const wanted = static_cast<long>(target(0));
    int const label = wanted >= 0 && wanted < channels ? int(wanted) : -1;
    op::SoftmaxSum<T> const s = team.template softmax_sum<T>(channels, z);
    if (gradient.wanted())
      team.for_each(channels, [&](int c) {
        gradient(c, decay(z(c) - s.largest) / s.sum - (c == label ? T(1) : T(0)));
      });
    if (label < 0) return Kokkos::Experimental::quiet_NaN_v<T>;
    return logarithm(s.sum) + s.largest - z(label);
  }

  /// The same of `Rows` rows side by side, for the vectors of processors: z and `gradient` are
  /// (C, Rows), a label outside 0..C-1 is -1, and the gradient is multiplied by `factor`.
  template <int Rows, class T>
  PHYLLO_FUNCTION PHYLLO_NOINLINE static void tile(int channels, T const* z, int const* label,
                                                   T factor, T* gradient, T* value) {
    alignas(64) T largest[Rows], sum[Rows], chosen[Rows];
    PHYLLO_SIMD(16)
    for (int r = 0; r < Rows; ++r) {
      largest[r] = z[r];
      sum[r] = 0;
    }
    for (int c = 1; c < channels; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < Rows; ++r)
        largest[r] = z[c * Rows + r] > largest[r] ? z[c * Rows + r] : largest[r];
    }
    for (int c = 0; c < channels; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < Rows; ++r) {
        T const e = decay(z[c * Rows + r] - largest[r]);
        sum[r] += e;
        if (gradient != nullptr) gradient[c * Rows + r] = e;
      }
    }
    for (int r = 0; r < Rows; ++r)
      chosen[r] = label[r] < 0 ? Kokkos::Experimental::quiet_NaN_v<T> : z[label[r] * Rows + r];
    PHYLLO_SIMD(16)
    for (int r = 0; r < Rows; ++r) value[r] = logarithm(sum[r]) + largest[r] - chosen[r];
    if (gradient == nullptr) return;
    PHYLLO_SIMD(16)
    for (int r = 0; r < Rows; ++r) sum[r] = factor / sum[r];
    for (int c = 0; c < channels; ++c) {
      PHYLLO_SIMD(16)
      for (int r = 0; r < Rows; ++r)
        gradient[c * Rows + r] = gradient[c * Rows + r] * sum[r] - (c == label[r] ? factor : T(0));
    }
  }

 private:
  // Of the channels that are not the target's.
  template <class T, class Outputs, class Gradient>
  PHYLLO_FUNCTION static void store_gradients(int first, int last, Outputs const& z, T largest,
                                              T share, Gradient const& gradient) {
    PHYLLO_SIMD(32)
    for (int c = first; c < last; ++c) gradient(c, decay(z(c) - largest) * share);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
