// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What holds for every optimizer: fifty steps follow the formula of its paper in plain loops, the
// same bits come again, and it minimises a convex function in every precision.

#include <doctest/doctest.h>

#include <finite_difference.hpp>
#include <generic/registry.hpp>
#include <generic/subject.hpp>
#include <train/reference_rules.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Net = Network<Input<3>, Linear<5>, Tanh, Linear<2>>;

// Any gradients: each step's are drawn, whatever the network would say.
template <class P, class Rule>
std::vector<double> updated(Rule const& rule, Clipping const& clipping, double& error) {
  Space const exec;
  using M = Model<Net, P, Execution<Space>>;
  M model(exec, {.batch = 4, .seed = 3});
  Optimizer<Rule, M> optimizer(exec, model, rule, {.clipping = clipping});
  exec.fence("optimizers");
  auto const& master = model.master();
  std::vector<double> w(master.data(), master.data() + master.size());
  std::vector<RuleNumbers> moments(w.size());
  constexpr int samples = 7;  // no power of two
  std::vector<double> g(w.size());
  for (int step = 1; step <= 50; ++step) {
    double const rate = rule.rate * rule.schedule.factor(std::uint64_t(step - 1));
    double const scale = double(model.state()().loss_scale);
    for (std::size_t i = 0; i < w.size(); ++i) {
      double const sum = samples * (2 * random_uniform(5, std::uint64_t(step), 0, i, 0) - 1);
      model.gradients()(i) = typename P::accumulate(sum * scale);
      g[i] = sum / samples;
    }
    double const clip = std::min(1.0, clipping.largest_norm / (norm(g) + 1e-6));
    for (std::size_t i = 0; i < w.size(); ++i)
      reference_update(rule, rate, w[i], clip * g[i], moments[i], step);
    model.gradients()(w.size()) = samples;
    optimizer.update(exec, model);
    exec.fence("optimizers");
  }
  CHECK(model.state()().step == 50);
  std::vector<double> const got(master.data(), master.data() + master.size());
  error = relative_error(w, got);
  // What the kernels read is the master, rounded.
  for (std::size_t i = 0; i < w.size(); ++i)
    CHECK(double(model.parameters()(i)) == double(typename P::storage(master(i))));
  return got;
}

}  // namespace

TEST_CASE_TEMPLATE("generic: optimizers follow their papers", P, Full<double>, Full<float>,
                   Mixed<bf16, float>, Mixed<fp16, float>) {
  for_optimizers([](auto const& rule) {
    CAPTURE(rule.name);
    for (Clipping const clipping : {Clipping{}, Clipping{.largest_norm = 0.3}}) {
      CAPTURE(clipping.largest_norm);
      double error = 1, second = 1;
      auto const got = updated<P>(rule, clipping, error);
      CHECK(error <= (std::is_same_v<P, Full<double>> ? 1e-15 : 2e-6));
      CHECK(updated<P>(rule, clipping, second) == got);
    }
  });
}

TEST_CASE_TEMPLATE("generic: optimizers minimise in every precision", P, Full<double>, Full<float>,
                   Mixed<bf16, float>, Mixed<fp16, float>) {
  for_optimizers([](auto const& rule) {
    CAPTURE(rule.name);
    Space const exec;
    using Rule = std::remove_cvref_t<decltype(rule)>;
    Rule steady = rule;
    steady.schedule = {};
    Trainer<Network<Input<2>, Linear<1>>, MeanSquaredError, Rule, P, Local, Execution<Space>>
        trainer(exec, steady, {.batch = 16});
    Matrix x("x", 16, 2), t("t", 16, 1);
    for (int n = 0; n < 16; ++n) {
      x(n, 0) = std::sin(1.3 * n);
      x(n, 1) = std::cos(2.1 * n);
      t(n, 0) = 0.5 * x(n, 0) - 0.25 * x(n, 1) + 0.125;
    }
    double const first = trainer.evaluate(x, t).loss;
    for (int step = 0; step < 120; ++step) trainer.step(x, t);
    CHECK(trainer.evaluate(x, t).loss < first / 2);
  });
}
