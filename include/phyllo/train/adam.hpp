// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/schedule.hpp>

#include <Kokkos_MathematicalFunctions.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Adam: first and second moments with bias correction,
/// w -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon).
///
/// options  rate · beta1 · beta2 · epsilon · weight_decay (g += weight_decay w) · schedule
/// state    two numbers per parameter
/// numerics on the master parameters, in Precision::accumulate; the corrections once a step
/// cost     4 reads, 3 writes per parameter
/// source   Kingma and Ba, "Adam", ICLR 2015, algorithm 1
struct Adam {
  double rate = 1e-3;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  Misspelt<Option::betas> betas = {};
  double epsilon = 1e-8;
  Misspelt<Option::epsilon> eps = {};
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "adam";
  static constexpr int states = 2;

  /// Factors on the moments, for a step: 1 / (1 - beta^t).
  struct Corrections {
    double first = 1, second = 1;
  };

  PHYLLO_FUNCTION void prepare(StepState& step) const {
    double const t = double(step.step);
    step.set_rule_numbers(
        Corrections{1 / (1 - Kokkos::pow(beta1, t)), 1 / (1 - Kokkos::pow(beta2, t))});
  }

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    g += T(weight_decay) * w;
    T const m = T(beta1) * state[0] + T(1 - beta1) * g;
    T const v = T(beta2) * state[stride] + T(1 - beta2) * g * g;
    state[0] = m;
    state[stride] = v;
    auto const correction = step.rule_numbers<Corrections>();
    T const deviation = square_root(v * T(correction.second)) + T(epsilon);
    return w - T(step.learning_rate) * (m * T(correction.first)) / deviation;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
