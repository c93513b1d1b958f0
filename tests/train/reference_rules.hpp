// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <vector>

namespace phyllo::test {

/// Float64 state of one parameter.
struct RuleNumbers {
  double first = 0, second = 0, third = 0;
};

// Sutskever et al., ICML 2013, eqs. 1 to 4, in the variable that is constant at rate 1.
inline void reference_update(Sgd const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  g += rule.weight_decay * w;
  bool const whole = t == 1 || rule.momentum == 0;  // as torch.optim.SGD
  m.first = rule.momentum * m.first + (whole ? 1 : 1 - rule.dampening) * g;
  w -= rate * (rule.nesterov ? g + rule.momentum * m.first : m.first);
}

// The moments of Kingma and Ba, ICLR 2015, algorithm 1.
template <class Rule> void reference_moments(Rule const& rule, double g, RuleNumbers& m) {
  m.first = rule.beta1 * m.first + (1 - rule.beta1) * g;
  m.second = rule.beta2 * m.second + (1 - rule.beta2) * g * g;
}
template <class Rule>
double reference_direction(Rule const& rule, double first, double second, int t) {
  double const deviation = std::sqrt(second / (1 - std::pow(rule.beta2, t)));
  return first / (1 - std::pow(rule.beta1, t)) / (deviation + rule.epsilon);
}
inline void reference_update(Adam const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  reference_moments(rule, g + rule.weight_decay * w, m);
  w -= rate * reference_direction(rule, m.first, m.second, t);
}
// Loshchilov and Hutter, ICLR 2019, algorithm 2.
inline void reference_update(AdamW const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  reference_moments(rule, g, m);
  w -= rate * (reference_direction(rule, m.first, m.second, t) + rule.weight_decay * w);
}
// Reddi, Kale and Kumar, ICLR 2018, algorithm 2, with Adam's corrections.
inline void reference_update(AmsGrad const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  reference_moments(rule, g + rule.weight_decay * w, m);
  m.third = std::max(m.third, m.second);
  w -= rate * reference_direction(rule, m.first, m.third, t);
}
// Dozat, 2016, algorithm 1; `third` is the product of the momenta.
inline void reference_update(NAdam const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  g += rule.weight_decay * w;
  reference_moments(rule, g, m);
  auto const momentum = [&](int at) {
    return rule.beta1 * (1 - 0.5 * std::pow(0.96, at * rule.momentum_decay));
  };
  m.third = (t == 1 ? 1 : m.third) * momentum(t);
  double const first = momentum(t + 1) * m.first / (1 - m.third * momentum(t + 1)) +
                       (1 - momentum(t)) * g / (1 - m.third);
  w -= rate * first / (std::sqrt(m.second / (1 - std::pow(rule.beta2, t))) + rule.epsilon);
}
// Tieleman and Hinton, 2012.
inline void reference_update(RmsProp const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int) {
  g += rule.weight_decay * w;
  m.first = rule.alpha * m.first + (1 - rule.alpha) * g * g;
  m.second = rule.momentum * m.second + g / (std::sqrt(m.first) + rule.epsilon);
  w -= rate * m.second;
}
// Duchi, Hazan and Singer, JMLR 12 (2011).
inline void reference_update(Adagrad const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int t) {
  g += rule.weight_decay * w;
  m.first += g * g;
  w -= rate / (1 + (t - 1) * rule.rate_decay) * g / (std::sqrt(m.first) + rule.epsilon);
}
// Chen et al., NeurIPS 2023, program 1.
inline void reference_update(Lion const& rule, double rate, double& w, double g, RuleNumbers& m,
                             int) {
  double const mixed = rule.beta1 * m.first + (1 - rule.beta1) * g;
  w -= rate * ((mixed > 0) - (mixed < 0) + rule.weight_decay * w);
  m.first = rule.beta2 * m.first + (1 - rule.beta2) * g;
}

// One step of a whole tensor, its t-th: for rules by elements, and those with a ratio of the
// tensor, which one of zeros does not have.
template <class Rule>
void reference_step(Rule const& rule, double rate, std::vector<double>& w,
                    std::vector<double> const& g, std::vector<RuleNumbers>& m, int t, TensorUse) {
  for (std::size_t i = 0; i < w.size(); ++i) reference_update(rule, rate, w[i], g[i], m[i], t);
}
inline double length_of(std::vector<double> const& v) {
  double squares = 0;
  for (double const x : v) squares += x * x;
  return std::sqrt(squares);
}
inline void reference_step(Lars const& rule, double rate, std::vector<double>& w,
                           std::vector<double> const& g, std::vector<RuleNumbers>& m, int,
                           TensorUse use) {
  double const decay = use == TensorUse::weight ? rule.weight_decay : 0;
  double const of_w = length_of(w), of_g = length_of(g);
  bool const adapts = use == TensorUse::weight && of_w > 0 && of_g > 0;
  double const ratio = adapts ? rule.trust * of_w / (of_g + decay * of_w) : 1;
  for (std::size_t i = 0; i < w.size(); ++i) {
    m[i].first = rule.momentum * m[i].first + rate * ratio * (g[i] + decay * w[i]);
    w[i] -= m[i].first;
  }
}
inline void reference_step(Lamb const& rule, double rate, std::vector<double>& w,
                           std::vector<double> const& g, std::vector<RuleNumbers>& m, int t,
                           TensorUse use) {
  std::vector<double> r;
  for (std::size_t i = 0; i < w.size(); ++i) {
    reference_moments(rule, g[i], m[i]);
    r.push_back(reference_direction(rule, m[i].first, m[i].second, t) +
                (use == TensorUse::weight ? rule.weight_decay * w[i] : 0));
  }
  double const of_w = length_of(w), of_r = length_of(r);
  double const ratio = use == TensorUse::weight && of_w > 0 && of_r > 0 ? of_w / of_r : 1;
  for (std::size_t i = 0; i < w.size(); ++i) w[i] -= rate * ratio * r[i];
}

}  // namespace phyllo::test
