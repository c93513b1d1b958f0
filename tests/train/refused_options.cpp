// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Options of rules and losses outside of their ranges: one sentence each, before anything is
// trained.

#include <phyllo/phyllo.hpp>
#include <sentence_of.hpp>

#include <doctest/doctest.h>

#include <limits>
#include <string>

using namespace phyllo;
using phyllo::test::sentence_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
struct Net : Network<Input<3>, Linear<2>> {};
using M = Model<Net, Full<double>, Execution<Space>>;
constexpr double not_a_number = std::numeric_limits<double>::quiet_NaN();

template <class Rule> std::string of_rule(Rule const& rule) {
  Space const exec;
  M model(exec, {.batch = 1});
  return sentence_of([&] { Optimizer<Rule, M> const optimizer(exec, model, rule); });
}
template <class Loss> std::string of_loss(Loss const& loss) {
  Space const exec;
  Trainer<Net, Loss, Sgd, Full<double>, Local, Execution<Space>> trainer(exec, Sgd{});
  return sentence_of([&] { trainer.set_loss(loss); });
}
std::string expected(std::string const& rule, std::string const& what) {
  return "Net/" + rule + ": expected a rule whose " + what + ".";
}

}  // namespace

TEST_CASE("refused options: of rules") {
  std::string const number = " is a finite number of at least 0", share = number + " and below 1";
  CHECK(of_rule(Sgd{.rate = not_a_number}) == expected("sgd", "rate" + number + ", got nan"));
  CHECK(of_rule(Sgd{.rate = -1}) == expected("sgd", "rate" + number + ", got -1"));
  CHECK(of_rule(Sgd{.momentum = -0.5}) == expected("sgd", "momentum" + number + ", got -0.5"));
  CHECK(of_rule(Adam{.beta1 = 1}) == expected("adam", "beta1" + share + ", got 1"));
  CHECK(of_rule(NAdam{.beta2 = 1.5}) == expected("nadam", "beta2" + share + ", got 1.5"));
  CHECK(of_rule(RmsProp{.alpha = 1.5}) == expected("rmsprop", "alpha" + share + ", got 1.5"));
  CHECK(of_rule(AdamW{.epsilon = -1e-8}) == expected("adamw", "epsilon" + number + ", got -1e-08"));
  CHECK(of_rule(Lion{.weight_decay = -0.1}) ==
        expected("lion", "weight_decay" + number + ", got -0.1"));
  CHECK(of_rule(Sgd{.nesterov = true}) ==
        "Net/sgd: expected nesterov with a momentum above 0 and without dampening, got momentum 0 "
        "and "
        "dampening 0.");
  CHECK(of_rule(Sgd{.momentum = 0.9, .dampening = 0.1, .nesterov = true}) != "");
  CHECK(of_rule(Sgd{.rate = 0, .momentum = 0.9, .nesterov = true}) == "");
  CHECK(of_rule(Adam{.beta1 = 0, .epsilon = 0}) == "");
}

TEST_CASE("refused options: of losses") {
  std::string const begin = "Net: expected a loss whose ";
  CHECK(of_loss(Huber{.delta = 0}) == begin + "delta is a finite number above 0, got 0.000000.");
  CHECK(of_loss(SmoothL1{.beta = -1}) == begin + "beta is a finite number above 0, got -1.000000.");
  CHECK(of_loss(Quantile{.quantile = 3}) ==
        begin + "quantile is a finite number of at least 0 and at most 1, got 3.000000.");
  CHECK(of_loss(SmoothedCrossEntropy{.smoothing = not_a_number}) != "");
  CHECK(of_loss(FocalLoss{.gamma = -1}) ==
        begin + "gamma is a finite number of at least 0, got -1.000000.");
  CHECK(of_loss(GaussianLikelihood{.epsilon = 0}) != "");
  CHECK(of_loss(Huber{.delta = 2}) == "");
  CHECK(of_loss(Quantile{.quantile = 1}) == "");
}

TEST_CASE("refused: steps of an optimizer whose model has a later one, or of another model") {
  Space const exec;
  M model(exec, {.batch = 1}), other(exec, {.batch = 1});
  Kokkos::View<double**, Kokkos::HostSpace> const x("x", 1, 3), y("y", 1, 2), d_y("d_y", 1, 2);
  Kokkos::deep_copy(x, 1);
  Kokkos::deep_copy(d_y, 1);
  Optimizer<Sgd, M> optimizer(exec, model, Sgd{.rate = 1});
  auto const step = [&](auto& of, M& with) {
    with.forward(exec, x, y);
    with.backward(exec, d_y);
    return sentence_of([&] { of.step(exec, with); });
  };
  CHECK(step(optimizer, model) == "");
  CHECK(step(optimizer, other) ==
        "Net/sgd: expected the model that the optimizer was made for, got another one. Make an "
        "optimizer for each model.");
  Optimizer<Adam, M> later(exec, model, Adam{});
  double const before = model.parameters()(0);
  CHECK(step(optimizer, model) ==
        "Net/sgd: another optimizer of the model has begun since, and the model has one count of "
        "steps. Use the last one, with groups or frozen tensors.");
  CHECK(model.parameters()(0) == before);
  CHECK(step(later, model) == "");
  CHECK(model.parameters()(0) != before);
  // One in place of the other, and a model that moves.
  optimizer = Optimizer<Sgd, M>(exec, model, Sgd{.rate = 1});
  M moved = std::move(model);
  CHECK(step(optimizer, moved) == "");
  CHECK(step(later, moved) != "");
}
