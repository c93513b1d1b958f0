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
/// options  rate · momentum · dampening (not of the first step, as in torch) · nesterov ·
///          weight_decay (g += weight_decay w) · schedule
/// state    one number per parameter
/// numerics on the master parameters, in Precision::accumulate
/// cost     3 reads, 2 writes per parameter
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

  PHYLLO_FUNCTION void prepare(StepState&) const {}

  /// The new value of w; `state` is this parameter's first number, the next `stride` further.
  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step) const {
    g += T(weight_decay) * w;
    T const share = step.step == 1 ? T(1) : T(1 - dampening);
    T const velocity = T(momentum) * state[0] + share * g;
    state[0] = velocity;
    T const direction = nesterov ? g + T(momentum) * velocity : velocity;
    return w - T(step.learning_rate) * direction;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
