// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

namespace phyllo::test {

// A rule that uses everything a rule can declare: numbers of a step, groups, sums over tensors,
// and numbers that are kept for each tensor. With momentum and a trust ratio for matrices, as LARS:
// You, Gitman and Ginsburg, arXiv:1708.03888, algorithm 1. Vectors have another rate and no decay.
struct TrustRatio {
  double rate = 0.5;
  double vector_rate = 0.25;  // factor on the rate
  double momentum = 0.9;
  double weight_decay = 0.05;
  double trust = 0.02;
  Schedule schedule = {};

  static constexpr char const* name = "trust ratio";
  static constexpr int states = 1;
  static constexpr int tensor_sums = 2;
  static constexpr int tensor_numbers = 2;  // the ratio, and steps that have prepared it

  // The factor on all rates halves in every tenth step, from numbers of the step before.
  struct Pace {
    double factor = 0;
    std::uint64_t since = 0;
  };

  static int group(NetworkTensor const& t) { return t.use == TensorUse::weight ? 0 : 1; }

  PHYLLO_FUNCTION void prepare(StepState& step) const {
    auto pace = step.rule_numbers<Pace>();
    if (step.step == 1) pace.factor = 1;
    if (++pace.since == 10) pace = {pace.factor / 2, 0};
    step.set_rule_numbers(pace);
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION void measure(T w, T g, T*, long, StepState const&, Tensor const&,
                               T* terms) const {
    terms[0] = w * w;
    terms[1] = g * g;
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION void prepare_tensor(T const* sums, StepState const&, Tensor& tensor) const {
    T const w = Kokkos::sqrt(sums[0]), g = Kokkos::sqrt(sums[1]);
    tensor.numbers[0] = tensor.group == 0 ? T(trust) * w / (g + T(weight_decay) * w) : T(1);
    tensor.numbers[1] += T(1);
  }
  template <class T, class Tensor>
  PHYLLO_FUNCTION T update(T w, T g, T* state, long, StepState const& step,
                           Tensor const& tensor) const {
    T const factor = tensor.group == 0 ? T(1) : T(vector_rate);
    T const decay = tensor.group == 0 ? T(weight_decay) : T(0);
    T const pace = T(step.rule_numbers<Pace>().factor * step.learning_rate);
    state[0] = T(momentum) * state[0] + pace * factor * tensor.numbers[0] * (g + decay * w);
    return w - state[0];
  }
};

// A rule with groups alone: no sums, so no pass before the update.
struct TwoRates {
  double rate = 0.1;
  Schedule schedule = {};

  static constexpr char const* name = "two rates";
  static constexpr int states = 0;
  static constexpr int tensor_sums = 0;
  static constexpr int tensor_numbers = 0;

  static int group(NetworkTensor const& t) { return t.use == TensorUse::bias ? 1 : 0; }
  PHYLLO_FUNCTION void prepare(StepState&) const {}
  template <class T, class Tensor>
  PHYLLO_FUNCTION T update(T w, T g, T*, long, StepState const& step, Tensor const& tensor) const {
    return w - T(step.learning_rate) * g * (tensor.group == 1 ? T(2) : T(1));
  }
};

}  // namespace phyllo::test
