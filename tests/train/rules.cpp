// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The formula of each update rule, parameter by parameter, against its paper in plain loops and
// against PyTorch's optimizer. Whole steps of an Optimizer are generic/optimizers.cpp's; rules that
// read tensors, train/tensor_rule.cpp's.

#include <doctest/doctest.h>

#include <golden.hpp>
#include <phyllo/phyllo.hpp>
#include <train/reference_rules.hpp>

#include <cmath>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

constexpr int parameters = 5, steps = 100;

double gradient(int step, int i) {
  return std::sin(0.7 * step + 1.3 * i) + 0.2 * std::cos(5.0 * step);
}

// As an Optimizer calls a rule.
template <class Rule> void check(Rule const& rule) {
  INFO("rule ", std::string(Rule::name));
  std::vector<double> state(static_cast<std::size_t>(Rule::states * parameters)), w(parameters),
      wanted(parameters);
  std::vector<RuleNumbers> numbers(parameters);
  for (int i = 0; i < parameters; ++i) w[std::size_t(i)] = wanted[std::size_t(i)] = 1 - 0.5 * i;
  StepState step;
  for (int t = 1; t <= steps; ++t) {
    step.step = std::uint64_t(t);
    step.learning_rate = rule.rate * rule.schedule.factor(std::uint64_t(t - 1));
    rule.prepare(step);
    for (int i = 0; i < parameters; ++i) {
      double& own = w[std::size_t(i)];
      own = rule.update(own, gradient(t, i), state.data() + i, long(parameters), step);
      reference_update(rule, step.learning_rate, wanted[std::size_t(i)], gradient(t, i),
                       numbers[std::size_t(i)], t);
      CHECK(own == doctest::Approx(wanted[std::size_t(i)]).epsilon(1e-13));
    }
  }
}

// 100 steps against PyTorch's, of tests/train/make_goldens.py.
template <class Rule> void check_torch(std::string const& name, Rule const& rule) {
  INFO("rule ", name);
  auto const wanted = golden("train/torch_rules", name);
  std::vector<double> state(static_cast<std::size_t>(Rule::states * parameters)), w(parameters),
      kept;
  for (int i = 0; i < parameters; ++i) w[std::size_t(i)] = 1 - 0.5 * i;
  StepState step;
  for (int t = 1; t <= 100; ++t) {
    step.step = std::uint64_t(t);
    step.learning_rate = rule.rate;
    rule.prepare(step);
    for (int i = 0; i < parameters; ++i) {
      double const g = counter_number(std::uint64_t(t), std::uint64_t(i)) + 0.3;
      w[std::size_t(i)] =
          rule.update(w[std::size_t(i)], g, state.data() + i, long(parameters), step);
    }
    for (int const at : {1, 2, 3, 5, 10, 20, 50, 100})
      if (t == at) kept.insert(kept.end(), w.begin(), w.end());
  }
  REQUIRE(kept.size() == wanted.size());
  for (std::size_t k = 0; k < kept.size(); ++k) CHECK(std::fabs(kept[k] - wanted[k]) <= 1e-12);
}

// Of a tensor: 0 a weight, which has a ratio of its own; 1 a bias. `wanted` makes the new
// parameters.
template <class Rule, class Wanted>
void check_tensor(Rule const& rule, int group, Wanted const& wanted_of) {
  INFO("rule ", std::string(Rule::name), ", group ", group);
  std::vector<double> state(static_cast<std::size_t>(Rule::states * parameters)), w(parameters);
  for (int i = 0; i < parameters; ++i) w[std::size_t(i)] = 1 - 0.5 * i;
  std::vector<double> wanted = w;
  std::vector<RuleNumbers> numbers(parameters);
  RuleTensor<double, Rule::tensor_numbers> tensor;
  tensor.group = group;
  StepState step;
  for (int t = 1; t <= steps; ++t) {
    step.step = std::uint64_t(t);
    step.learning_rate = rule.rate;
    rule.prepare(step);
    double sums[Rule::tensor_sums] = {};
    for (int i = 0; i < parameters; ++i) {
      double terms[Rule::tensor_sums] = {};
      rule.measure(w[std::size_t(i)], gradient(t, i), state.data() + i, long(parameters), step,
                   tensor, terms);
      for (int k = 0; k < Rule::tensor_sums; ++k) sums[k] += terms[k];
    }
    rule.prepare_tensor(sums, step, tensor);
    for (int i = 0; i < parameters; ++i)
      w[std::size_t(i)] = rule.update(w[std::size_t(i)], gradient(t, i), state.data() + i,
                                      long(parameters), step, tensor);
    wanted_of(wanted, numbers, t);
    for (int i = 0; i < parameters; ++i)
      CHECK(w[std::size_t(i)] == doctest::Approx(wanted[std::size_t(i)]).epsilon(1e-12));
  }
}

double length(std::vector<double> const& v) {
  double squares = 0;
  for (double const x : v) squares += x * x;
  return std::sqrt(squares);
}

}  // namespace

// You, Gitman and Ginsburg, arXiv:1708.03888, algorithm 1; You et al., ICLR 2020, algorithm 2.
TEST_CASE("rules with a rate for each tensor follow their papers") {
  for (int const group : {0, 1}) {
    Lars const lars{.rate = 0.5, .momentum = 0.8, .weight_decay = 0.05, .trust = 0.02};
    check_tensor(lars, group, [&](std::vector<double>& w, std::vector<RuleNumbers>& m, int t) {
      std::vector<double> g;
      for (int i = 0; i < parameters; ++i) g.push_back(gradient(t, i));
      double const decay = group == 0 ? lars.weight_decay : 0;
      double const ratio =
          group == 0 ? lars.trust * length(w) / (length(g) + decay * length(w)) : 1;
      for (std::size_t i = 0; i < w.size(); ++i) {
        m[i].first = lars.momentum * m[i].first + lars.rate * ratio * (g[i] + decay * w[i]);
        w[i] -= m[i].first;
      }
    });
    Lamb const lamb{.rate = 0.05, .weight_decay = 0.1};
    check_tensor(lamb, group, [&](std::vector<double>& w, std::vector<RuleNumbers>& m, int t) {
      std::vector<double> r;
      for (std::size_t i = 0; i < w.size(); ++i) {
        reference_moments(lamb, gradient(t, int(i)), m[i]);
        r.push_back(reference_direction(lamb, m[i].first, m[i].second, t) +
                    (group == 0 ? lamb.weight_decay * w[i] : 0));
      }
      double const ratio = group == 0 ? length(w) / length(r) : 1;
      for (std::size_t i = 0; i < w.size(); ++i) w[i] -= lamb.rate * ratio * r[i];
    });
  }
}

TEST_CASE("a tensor of zeros has no rate of its own") {
  RuleTensor<double, 1> tensor;
  double const sums[2] = {0, 4};
  Lars{}.prepare_tensor(sums, StepState{}, tensor);
  CHECK(tensor.numbers[0] == 1);
  tensor.numbers[0] = 0;
  Lamb{}.prepare_tensor(sums, StepState{}, tensor);
  CHECK(tensor.numbers[0] == 1);
}

TEST_CASE("rules follow their papers") {
  check(Sgd{.rate = 0.1, .momentum = 0.9, .dampening = 0.3, .weight_decay = 0.01});
  check(Sgd{.rate = 0.1, .dampening = 0.3});
  check(Sgd{.rate = 0.1, .momentum = 0.9, .nesterov = true});
  check(Adam{.rate = 0.1, .weight_decay = 0.1});
  check(AdamW{.rate = 0.1, .beta1 = 0.8, .weight_decay = 0.2});
  check(AmsGrad{.rate = 0.1, .beta2 = 0.9, .weight_decay = 0.1});
  check(NAdam{.rate = 0.1, .beta2 = 0.99, .weight_decay = 0.1, .momentum_decay = 0.04});
  check(RmsProp{.rate = 0.05, .alpha = 0.9, .momentum = 0.8, .weight_decay = 0.1});
  check(RmsProp{.schedule = exponential_schedule(0.9)});
  check(Adagrad{.rate = 0.3, .rate_decay = 0.05, .weight_decay = 0.1});
  check(Lion{.rate = 0.01, .beta1 = 0.8, .weight_decay = 0.1});
}

TEST_CASE("rules follow PyTorch's optimizers") {
  check_torch("sgd", Sgd{.rate = 0.1});
  check_torch("sgd_nesterov",
              Sgd{.rate = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.02});
  check_torch("sgd_dampening",
              Sgd{.rate = 0.1, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.01});
  check_torch("sgd_dampening_alone", Sgd{.rate = 0.1, .dampening = 0.3});
  check_torch(
      "adam",
      Adam{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.1});
  check_torch("adamw", AdamW{.rate = 0.02, .weight_decay = 0.2});
  check_torch("amsgrad", AmsGrad{.rate = 0.02, .beta2 = 0.95, .weight_decay = 0.1});
  check_torch("nadam",
              NAdam{.rate = 0.02, .beta2 = 0.99, .weight_decay = 0.1, .momentum_decay = 0.04});
  check_torch("rms_prop",
              RmsProp{.rate = 0.01, .alpha = 0.9, .epsilon = 1e-6, .weight_decay = 0.05});
  check_torch("rms_prop_momentum",
              RmsProp{.rate = 0.01, .alpha = 0.9, .momentum = 0.8, .weight_decay = 0.1});
  check_torch("adagrad",
              Adagrad{.rate = 0.2, .rate_decay = 0.05, .epsilon = 1e-8, .weight_decay = 0.1});
}
