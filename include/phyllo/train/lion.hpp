// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/schedule.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Steps of one size along the sign of a momentum: w -= rate (sign(beta1 m + (1 - beta1) g) +
/// weight_decay w), then m = beta2 m + (1 - beta2) g.
///
/// options  rate (a third to a tenth of Adam's) · beta1 · beta2 · weight_decay · schedule
/// state    one number per parameter
/// numerics on the master parameters, in Precision::accumulate; the sign of zero is zero
/// cost     3 reads, 2 writes per parameter
/// source   Chen et al., "Symbolic Discovery of Optimization Algorithms", NeurIPS 2023, program 1
struct Lion {
  double rate = 1e-4;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double beta1 = 0.9;
  double beta2 = 0.99;
  Misspelt<Option::betas> betas = {};
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "lion";
  static constexpr int states = 1;

  PHYLLO_FUNCTION void prepare(StepState&) const {}

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step) const {
    T const mixed = T(beta1) * state[0] + T(1 - beta1) * g;
    T const above = mixed > T(0) ? T(1) : T(0), sign = mixed < T(0) ? T(-1) : above;
    state[0] = T(beta2) * state[0] + T(1 - beta2) * g;
    return w - T(step.learning_rate) * (sign + T(weight_decay) * w);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
