// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/step_state.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// First and second moments of a gradient, as Adam and its relatives keep them: m = beta1 m + (1 -
/// beta1) g, v = beta2 v + (1 - beta2) g^2.
///
/// state    m, and v `stride` numbers further
struct AdamMoments {
  /// Factors on the moments, for a step: 1 / (1 - beta^t).
  struct Corrections {
    double first = 1, second = 1;
  };

  template <class Rule> PHYLLO_FUNCTION static void prepare(Rule const& rule, StepState& step) {
    double const t = double(step.step);
    step.set_rule_numbers(
        Corrections{1 / (1 - Kokkos::pow(rule.beta1, t)), 1 / (1 - Kokkos::pow(rule.beta2, t))});
  }
  template <class T> struct Values {
    T first, second;
  };
  /// The moments of this step, which are stored.
  template <class Rule, class T>
  PHYLLO_FUNCTION static Values<T> add(Rule const& rule, T g, T* state, long stride) {
    T const m = T(rule.beta1) * state[0] + T(1 - rule.beta1) * g;
    T const v = T(rule.beta2) * state[stride] + T(1 - rule.beta2) * g * g;
    state[0] = m;
    state[stride] = v;
    return {m, v};
  }
  /// m / (sqrt(v) + epsilon), both corrected, times `rate`.
  template <class Rule, class T>
  PHYLLO_FUNCTION static T step_of(Rule const& rule, T rate, Values<T> const& moments,
                                   StepState const& step) {
    auto const correction = step.rule_numbers<Corrections>();
    T const deviation = square_root(moments.second * T(correction.second)) + T(rule.epsilon);
    return rate * (moments.first * T(correction.first)) / deviation;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
