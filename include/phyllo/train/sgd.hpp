// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/schedule.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Stochastic gradient descent with momentum: v = momentum v + (1 - dampening) g, w -= rate v;
/// Nesterov steps along g + momentum v.
///
/// options  rate · momentum · dampening (as in torch neither of the first step nor without
///          momentum) · nesterov · weight_decay (g += weight_decay w) · schedule
/// state    one number per parameter; zero without momentum
/// numerics on the master parameters, in Precision::accumulate
/// cost     3 reads, 2 writes per parameter; without momentum 2 reads, 1 write on a processor
/// source   Sutskever et al., "On the importance of initialization and momentum", ICML 2013
struct Sgd {
  double rate = 0.01;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double momentum = 0;
  double dampening = 0;
  bool nesterov = false;
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "sgd";
  static constexpr int states = 1;

  /// Whether `update` reads what it wrote the last time.
  PHYLLO_FUNCTION bool remembers() const { return momentum != 0; }

  /// Factors of a step, so that `update` has no branches: on the gradient in the velocity, on the
  /// velocity that is kept, on the gradient and the velocity in the direction.
  struct Factors {
    double share = 1, kept = 0, gradient = 0, velocity = 1;
  };

  PHYLLO_FUNCTION void prepare(StepState& step) const {
    Factors f;
    if (remembers()) f.kept = 1;
    if (remembers() && step.step > 1) f.share = 1 - dampening;
    if (nesterov) f.gradient = 1, f.velocity = momentum;
    step.set_rule_numbers(f);
  }

  /// The new value of w; `state` is this parameter's first number, the next `stride` further.
  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step) const {
    auto const f = step.rule_numbers<Factors>();
    g += T(weight_decay) * w;
    T const velocity = T(momentum) * state[0] + T(f.share) * g;
    state[0] = T(f.kept) * velocity;
    return w - T(step.learning_rate) * (T(f.gradient) * g + T(f.velocity) * velocity);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
