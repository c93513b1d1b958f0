// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/misspelt.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/train/adam_moments.hpp>
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

  PHYLLO_FUNCTION void prepare(StepState& step) const { AdamMoments::prepare(*this, step); }

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    g += T(weight_decay) * w;
    auto const moments = AdamMoments::add(*this, g, state, stride);
    return w - AdamMoments::step_of(*this, T(step.learning_rate), moments, step);
  }
};

/// Adam whose decay of the weights is not part of the gradient: w -= rate weight_decay w, then
/// Adam's step.
///
/// options  rate · beta1 · beta2 · epsilon · weight_decay · schedule
/// state    two numbers per parameter
/// numerics as Adam
/// cost     as Adam
/// source   Loshchilov and Hutter, "Decoupled Weight Decay Regularization", ICLR 2019, algorithm 2
struct AdamW {
  double rate = 1e-3;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  Misspelt<Option::betas> betas = {};
  double epsilon = 1e-8;
  Misspelt<Option::epsilon> eps = {};
  double weight_decay = 1e-2;
  Misspelt<Option::weight_decay> decay = {};
  Schedule schedule = {};

  static constexpr char const* name = "adamw";
  static constexpr int states = 2;

  PHYLLO_FUNCTION void prepare(StepState& step) const { AdamMoments::prepare(*this, step); }

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    auto const moments = AdamMoments::add(*this, g, state, stride);
    T const of_step = T(step.learning_rate);
    w -= of_step * T(weight_decay) * w;
    return w - AdamMoments::step_of(*this, of_step, moments, step);
  }
};

/// Adam with the largest second moment so far in the denominator: u = max(u, v), w -= rate (m / (1
/// - beta1^t)) / (sqrt(u / (1 - beta2^t)) + epsilon).
///
/// options  rate · beta1 · beta2 · epsilon · weight_decay (g += weight_decay w) · schedule
/// state    three numbers per parameter
/// numerics as Adam; the correction of the second moment is that of the step, as torch's
/// cost     5 reads, 4 writes per parameter
/// source   Reddi, Kale and Kumar, "On the Convergence of Adam and Beyond", ICLR 2018, algorithm 2
struct AmsGrad {
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

  static constexpr char const* name = "amsgrad";
  static constexpr int states = 3;

  PHYLLO_FUNCTION void prepare(StepState& step) const { AdamMoments::prepare(*this, step); }

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    g += T(weight_decay) * w;
    auto moments = AdamMoments::add(*this, g, state, stride);
    T const largest = state[2 * stride];
    moments.second = largest > moments.second ? largest : moments.second;
    state[2 * stride] = moments.second;
    return w - AdamMoments::step_of(*this, T(step.learning_rate), moments, step);
  }
};

/// Adam with Nesterov's momentum: the next step's share of the first moment is taken in advance.
/// w -= rate ((1 - mu_t) g / (1 - mu_1 ... mu_t) + mu_(t+1) m / (1 - mu_1 ... mu_(t+1))) / (sqrt(v
/// / (1 - beta2^t)) + epsilon), with mu_t = beta1 (1 - 0.96^(t momentum_decay) / 2).
///
/// options  rate · beta1 · beta2 · epsilon · weight_decay (g += weight_decay w) · momentum_decay ·
///          schedule
/// state    two numbers per parameter
/// numerics as Adam
/// cost     as Adam
/// source   Dozat, "Incorporating Nesterov Momentum into Adam", ICLR workshop 2016, algorithm 1;
///          the momentum of step t is torch's
struct NAdam {
  double rate = 2e-3;
  Misspelt<Option::rate> learning_rate = {}, lr = {};
  double beta1 = 0.9;
  double beta2 = 0.999;
  Misspelt<Option::betas> betas = {};
  double epsilon = 1e-8;
  Misspelt<Option::epsilon> eps = {};
  double weight_decay = 0;
  Misspelt<Option::weight_decay> decay = {};
  double momentum_decay = 4e-3;
  Schedule schedule = {};

  static constexpr char const* name = "nadam";
  static constexpr int states = 2;

  /// Factors of a step on the gradient and on the moments; the product of all momenta so far.
  struct Factors {
    double gradient = 0, first = 0, second = 1, product = 0;
  };

  PHYLLO_FUNCTION void prepare(StepState& step) const {
    auto factors = step.rule_numbers<Factors>();
    double const t = double(step.step);
    double const now = momentum(t), next = momentum(t + 1);
    factors.product = step.step == 1 ? now : factors.product * now;
    factors.gradient = (1 - now) / (1 - factors.product);
    factors.first = next / (1 - factors.product * next);
    factors.second = 1 / (1 - Kokkos::pow(beta2, t));
    step.set_rule_numbers(factors);
  }

  template <class T>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long stride, StepState const& step) const {
    g += T(weight_decay) * w;
    auto const moments = AdamMoments::add(*this, g, state, stride);
    auto const factors = step.rule_numbers<Factors>();
    T const deviation = square_root(moments.second * T(factors.second)) + T(epsilon);
    T const direction = T(factors.gradient) * g + T(factors.first) * moments.first;
    return w - T(step.learning_rate) * direction / deviation;
  }

 private:
  PHYLLO_FUNCTION double momentum(double t) const {
    return beta1 * (1 - 0.5 * Kokkos::pow(0.96, t * momentum_decay));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
