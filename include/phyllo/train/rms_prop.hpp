// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/schedule.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Steps divided by a running root of the mean square: v = alpha v + (1 - alpha) g^2, b = momentum
/// b + g / (sqrt(v) + epsilon), w -= rate b.
///
/// options  rate · alpha · epsilon · momentum · weight_decay (g += weight_decay w) · schedule
/// state    two numbers per parameter
/// numerics on the master parameters, in Precision::accumulate
/// cost     4 reads, 3 writes per parameter
/// source   Tieleman and Hinton, "Lecture 6.5: rmsprop", 2012; Graves, arXiv:1308.0850, eq. 38 to
///          45 without its mean
struct RmsProp {
  double rate = 1e-2;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double alpha = 0.99;
  double epsilon = 1e-8;
  Misspelt<Option::epsilon> eps = {};
  double momentum = 0;
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "rmsprop";
  static constexpr int states = 2;

  PHYLLO_FUNCTION void prepare(StepState&) const {}

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    g += T(weight_decay) * w;
    T const v = T(alpha) * state[0] + T(1 - alpha) * g * g;
    state[0] = v;
    state[stride] = T(momentum) * state[stride] + g / (square_root(v) + T(epsilon));
    return w - T(step.learning_rate) * state[stride];
  }
};

/// Steps divided by the root of the sum of all squares so far: s += g^2, w -= rate / (1 + (t - 1)
/// rate_decay) g / (sqrt(s) + epsilon).
///
/// options  rate · rate_decay · epsilon · weight_decay (g += weight_decay w) · schedule
/// state    one number per parameter
/// numerics on the master parameters, in Precision::accumulate
/// cost     3 reads, 2 writes per parameter
/// source   Duchi, Hazan and Singer, "Adaptive Subgradient Methods", JMLR 12 (2011) 2121
struct Adagrad {
  double rate = 1e-2;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double rate_decay = 0;
  double epsilon = 1e-10;
  Misspelt<Option::epsilon> eps = {};
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "adagrad";
  static constexpr int states = 1;

  PHYLLO_FUNCTION void prepare(StepState&) const {}

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step) const {
    g += T(weight_decay) * w;
    state[0] += g * g;
    T const decayed = T(step.learning_rate / (1 + double(step.step - 1) * rate_decay));
    return w - decayed * g / (square_root(state[0]) + T(epsilon));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
