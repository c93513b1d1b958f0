// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <initializer_list>
#include <limits>
#include <random>

namespace phyllo::test {

using Random = std::mt19937;

inline int below(Random& random, int count) { return int(random() % unsigned(count)); }
template <class T> T one_of(Random& random, std::initializer_list<T> choices) {
  return choices.begin()[below(random, int(choices.size()))];
}

inline Schedule drawn_simple_schedule(Random& random) {
  std::uint64_t const warmup = one_of<std::uint64_t>(random, {0, 0, 1, 4});
  switch (below(random, 8)) {
    case 0:
      return exponential_schedule(0.95, warmup);
    case 1:
      return step_decay_schedule(3, 0.5, warmup);
    case 2:
      return multi_step_schedule({2, 5, 9}, 0.3, warmup);
    case 3:
      return polynomial_schedule(15, 0.9, 0.1, warmup);
    case 4:
      return cosine_restarts_schedule(6, 2, 0.05, warmup);
    case 5:
      return one_cycle_schedule(12, 4);
    case 6:
      return cosine_schedule(20, 0.1, warmup);
    default:
      return constant_schedule(warmup);
  }
}
inline Schedule drawn_schedule(Random& random) {
  auto const first = drawn_simple_schedule(random);
  auto const second = drawn_simple_schedule(random);
  bool const both =
      first.kind == Schedule::Kind::multi_step && second.kind == Schedule::Kind::multi_step;
  switch (both ? 2 : below(random, 4)) {
    case 0:
      return chained_schedule(first, second);
    case 1:
      return sequential_schedule(first, 5, second);
    default:
      return first;
  }
}
inline Clipping drawn_clipping(Random& random) {
  constexpr double none = std::numeric_limits<double>::infinity();
  Clipping clipping;
  clipping.largest_norm = one_of(random, {none, none, 0.3, 1.0});
  clipping.largest_value = one_of(random, {none, none, 0.05, 0.2});
  return clipping;
}

// What all rules have.
template <class Rule> Rule with_common(Random& random, Rule rule, double rate) {
  rule.rate = rate * one_of(random, {0.3, 1.0});
  rule.weight_decay = one_of(random, {0.0, 0.0, 0.1});
  rule.schedule = drawn_schedule(random);
  return rule;
}
// Far above the rounding of a gradient that is zero, such as that of a bias in front of a batch
// normalisation.
inline double drawn_epsilon(Random& random) { return one_of(random, {1e-5, 1e-3}); }
template <class Rule> Rule with_moments(Random& random, double rate) {
  Rule rule = with_common(random, Rule{}, rate);
  rule.beta1 = one_of(random, {0.0, 0.8, 0.9});
  rule.beta2 = one_of(random, {0.9, 0.999});
  if constexpr (requires { rule.epsilon; }) rule.epsilon = drawn_epsilon(random);
  return rule;
}

template <class Rule> Rule drawn_rule(Random& random) {
  if constexpr (std::is_same_v<Rule, Sgd>) {
    Rule rule = with_common(random, Rule{}, 0.1);
    rule.momentum = one_of(random, {0.0, 0.5, 0.9});
    rule.nesterov = rule.momentum > 0 && below(random, 2) == 0;
    if (!rule.nesterov) rule.dampening = one_of(random, {0.0, 0.3});
    return rule;
  } else if constexpr (std::is_same_v<Rule, RmsProp>) {
    Rule rule = with_common(random, Rule{}, 0.01);
    rule.alpha = one_of(random, {0.9, 0.99});
    rule.epsilon = drawn_epsilon(random);
    rule.momentum = one_of(random, {0.0, 0.8});
    return rule;
  } else if constexpr (std::is_same_v<Rule, Adagrad>) {
    Rule rule = with_common(random, Rule{}, 0.05);
    rule.rate_decay = one_of(random, {0.0, 0.1});
    return rule;
  } else if constexpr (std::is_same_v<Rule, Lars>) {
    Rule rule = with_common(random, Rule{}, 0.5);
    rule.trust = one_of(random, {0.001, 0.05});
    return rule;
  } else if constexpr (std::is_same_v<Rule, NAdam>) {
    Rule rule = with_moments<Rule>(random, 0.01);
    rule.momentum_decay = one_of(random, {4e-3, 0.04});
    return rule;
  } else {
    return with_moments<Rule>(random, 0.01);
  }
}

}  // namespace phyllo::test
