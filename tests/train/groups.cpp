// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Groups of parameters: a hundred steps of every rule against its formula in double with each
// tensor's own rate and decay; selections; trainers of all kinds.

#include <phyllo/phyllo.hpp>
#include <train/kept_state.hpp>
#include <train/reference_rules.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace phyllo;
using namespace phyllo::test;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct encoded;
struct hidden;
struct left;
struct right;

struct Small : Network<Input<3>, Linear<9>, LayerNorm<>, Tanh, Linear<2>> {};
struct Large : Network<Input<190>, Linear<203>, Linear<171>> {};  // all threads
struct Heads : Network<Input<2, 6, 6>, Conv2d<4>, BatchNorm<>, ReLU, Save<encoded>,
                       Residual<Main<Conv2d<4, Padding<1>>>>, Flatten, Save<hidden>, Linear<3>,
                       Output<left>, From<hidden>, Linear<2>, PReLU<>, Output<right>> {};

constexpr int samples = 7, steps = 100;

double gradient(int step, int i) {
  return 2 * random_uniform(5, std::uint64_t(step), 0, std::uint64_t(i), 0) - 1;
}
template <class V> std::vector<double> numbers(V const& view) {
  return {view.data(), view.data() + view.size()};
}

// What is asked for below, tensor by tensor.
struct Choice {
  double rate_factor = 1;
  bool has_decay = false;
  double decay = 0;
  bool frozen = false;
};
template <class M> Choice choice_of(NetworkTensor const& t) {
  bool const is_last = t.node + 1 == M::nodes.size;
  Choice choice;
  if (t.use != TensorUse::weight) choice = {1, true, 0, false};
  if (is_last) choice = {0.1, true, 0.3, false};
  choice.frozen = t.use == TensorUse::scale;
  return choice;
}
template <class O, class Space> void choose(Space const& exec, O& optimizer) {
  std::string const last = std::to_string(O::tensors.tensor[O::tensors.size - 1].node - 1);
  optimizer.set_group(exec, ParameterSelection::biases_and_norms(), {.weight_decay = 0});
  optimizer.set_group(exec, ParameterSelection::named(last + ".*"),
                      {.rate_factor = 0.1, .weight_decay = 0.3});
}

template <class Net, class P, class Rule> void check(Rule const& rule, double bound, int count) {
  CAPTURE(std::string(Rule::name));
  Space const exec;
  using M = Model<Net, P, Execution<Space>>;
  M model(exec, {.batch = 1, .seed = 3});
  Optimizer<Rule, M> optimizer(exec, model, rule);
  optimizer.set_frozen(exec, 1);
  choose(exec, optimizer);
  optimizer.set_frozen(exec, 1, false);
  auto const& tensors = optimizer.tensors;
  for (int t = 0; t < tensors.size; ++t)
    optimizer.set_frozen(exec, t, choice_of<M>(tensors.tensor[t]).frozen);
  exec.fence("groups");
  auto const initial = numbers(model.master());
  auto wanted = initial;
  std::vector<RuleNumbers> moments(wanted.size());
  for (int step = 1; step <= count; ++step) {
    double const scale = samples * double(model.state()().loss_scale);
    double const rate = rule.rate * rule.schedule.factor(std::uint64_t(step - 1));
    for (int t = 0; t < tensors.size; ++t) {
      NetworkTensor const& tensor = tensors.tensor[t];
      Choice const choice = choice_of<M>(tensor);
      Rule own = rule;
      if (choice.has_decay) own.weight_decay = choice.decay;
      std::vector<double> w, g;
      std::vector<RuleNumbers> m;
      for (int i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
        model.gradients()(i) = typename M::accumulate(gradient(step, i) * scale);
        w.push_back(wanted[std::size_t(i)]);
        g.push_back(gradient(step, i));
        m.push_back(moments[std::size_t(i)]);
      }
      if (choice.frozen) continue;
      reference_step(own, rate * choice.rate_factor, w, g, m, step, tensor.use);
      for (std::size_t i = 0; i < w.size(); ++i) {
        wanted[std::size_t(tensor.offset) + i] = w[i];
        moments[std::size_t(tensor.offset) + i] = m[i];
      }
    }
    model.gradients()(M::nodes.arena_size) = samples;
    optimizer.update(exec, model);
    exec.fence("groups");
  }
  CHECK(model.state()().step == std::uint64_t(count));
  auto const got = numbers(model.master());
  double worst = 0, largest = 0, moved = 0;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    worst = std::max(worst, std::fabs(got[i] - wanted[i]));
    largest = std::max(largest, std::fabs(wanted[i]));
    moved = std::max(moved, std::fabs(wanted[i] - initial[i]));
    CHECK(double(model.parameters()(i)) == double(typename P::storage(model.master()(i))));
  }
  CHECK(worst <= bound * largest);
  CHECK(moved > 1e-3);
}

template <class T> std::vector<int> chosen(T const& which) {
  std::vector<int> all;
  auto const mask = which.template among<Heads>("Heads");
  for (std::size_t t = 0; t < mask.size(); ++t)
    if (mask[t]) all.push_back(int(t));
  return all;
}
using Indices = std::vector<int>;

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
using Bits =
    Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;

}  // namespace

TEST_CASE("groups: a hundred steps of every rule follow its formula") {
  auto const all = [](auto const& rule) { check<Small, Full<double>>(rule, 1e-12, steps); };
  all(Sgd{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.01, .schedule = cosine_schedule(200)});
  all(Adam{.rate = 0.01, .weight_decay = 0.1});
  all(AdamW{.rate = 0.01, .weight_decay = 0.2});
  all(AmsGrad{.rate = 0.01, .weight_decay = 0.1});
  all(NAdam{.rate = 0.01, .weight_decay = 0.1});
  all(RmsProp{.rate = 0.01, .momentum = 0.8, .weight_decay = 0.1});
  all(Adagrad{.rate = 0.1, .weight_decay = 0.1});
  all(Lion{.rate = 0.01, .weight_decay = 0.1});
  all(Lars{.rate = 0.5, .weight_decay = 0.05});
  all(Lamb{.rate = 0.01, .weight_decay = 0.1});
}

TEST_CASE("groups: in every precision, by one thread and by all") {
  AdamW const rule{.rate = 0.01, .weight_decay = 0.2};
  PHYLLO_IN_VERIFY((check<Small, Full<float>>(rule, 2e-5, 20));)
  check<Small, Mixed<bf16, float>>(rule, 2e-5, 20);
  PHYLLO_IN_VERIFY((check<Small, Mixed<fp16, float>>(rule, 2e-5, 20));)
  check<Large, Full<double>>(rule, 1e-12, 3);
}

TEST_CASE("groups: selections by use, layer, name and tag") {
  // 0: conv2d, 1: its bias, 2 and 3: batch norm, 4 and 5: the residual's, 6 to 9: heads, 10: PReLU.
  CHECK(chosen(ParameterSelection::all()).size() == 11);
  CHECK(chosen(ParameterSelection::weights()) == Indices{0, 4, 6, 8});
  CHECK(chosen(ParameterSelection::biases_and_norms()) == Indices{1, 2, 3, 5, 7, 9, 10});
  CHECK(chosen(ParameterSelection::of_layers("conv2d")) == Indices{0, 1, 4, 5});
  CHECK(chosen(ParameterSelection::of_layers("*norm")) == Indices{2, 3});
  CHECK(chosen(ParameterSelection::named("3.*")) == Indices{4, 5});
  CHECK(chosen(ParameterSelection::named("*.bias") | ParameterSelection::of_layers("prelu")) ==
        Indices{1, 3, 5, 7, 9, 10});
  CHECK(chosen(ParameterSelection::up_to<encoded>()) == Indices{0, 1, 2, 3});
  CHECK(chosen(ParameterSelection::up_to<left>() & ~ParameterSelection::up_to<encoded>()) ==
        Indices{4, 5, 6, 7});
  CHECK(chosen(~ParameterSelection::up_to<hidden>() & ParameterSelection::weights()) ==
        Indices{6, 8});
}

TEST_CASE("groups: what selects nothing or is no number is refused") {
  Space const exec;
  Trainer<Small, MeanSquaredError, AdamW, Full<double>, Local, Execution<Space>> trainer(exec,
                                                                                         AdamW{});
  std::string const names = "0.weight (linear), 0.bias (linear), 1.weight (layer_norm)";
  CHECK_THROWS_WITH_AS(trainer.set_group(ParameterSelection::named("7.*"), {.rate_factor = 2}),
                       doctest::Contains(names.c_str()), Error);
  CHECK_THROWS_WITH_AS(
      trainer.set_frozen(ParameterSelection::of_layers("conv2d") | ParameterSelection::all()),
      doctest::Contains("ParameterSelection::of_layers(\"conv2d\") selects none of"), Error);
  CHECK_THROWS_WITH_AS(trainer.set_frozen(ParameterSelection::up_to<encoded>()),
                       doctest::Contains("ParameterSelection::up_to<encoded>() selects none of"),
                       Error);
  CHECK_THROWS_WITH_AS(
      trainer.set_frozen(ParameterSelection::weights() & ~ParameterSelection::weights()),
      doctest::Contains("the selection as a whole selects none of"), Error);
  double const nan = std::numeric_limits<double>::quiet_NaN();
  CHECK_THROWS_WITH_AS(trainer.set_group(ParameterSelection::all(), {.rate_factor = -1}),
                       doctest::Contains("a finite rate_factor of at least 0, got -1"), Error);
  CHECK_THROWS_WITH_AS(trainer.set_group(ParameterSelection::all(), {.weight_decay = nan}),
                       doctest::Contains("a finite weight_decay of at least 0, got nan"), Error);
  CHECK(trainer.optimizer().choices() == 0);
}

TEST_CASE("groups: Trainer, Reproducible, captured steps, checkpoints and the last call") {
  Space const exec;
  auto const x = values(16, 3, 0.3), t = values(16, 2, 0.8);
  AdamW const rule{.rate = 0.01, .weight_decay = 0.2};
  auto const check_trainer = [&]<class T>(T* = nullptr) {
    T trainer(exec, rule, {.batch = 16}), other(exec, rule, {.batch = 16}),
        plain(exec, rule, {.batch = 16});
    for (T* one : {&trainer, &other}) {
      one->set_group(ParameterSelection::all(), {.rate_factor = 7, .weight_decay = 7});
      one->set_group(ParameterSelection::all(), {});
      one->set_group(ParameterSelection::biases_and_norms(), {.weight_decay = 0});
      one->set_frozen(ParameterSelection::of_layers("layer_norm"));
    }
    auto const initial = numbers(trainer.model().master());
    MemoryCheckpoint checkpoint(trainer);
    trainer.step(x, t);
    other.step(x, t);
    plain.step(x, t);
    auto captured = trainer.capture(x, t);
    for (int step = 1; step < 6; ++step) {
      captured.replay();
      other.step(x, t);
    }
    CHECK(kept_of(trainer) == kept_of(other));
    checkpoint.store(trainer);
    for (int step = 0; step < 4; ++step) trainer.step(x, t);
    auto const last = kept_of(trainer);
    checkpoint.restore(trainer);
    CHECK(kept_of(trainer) == kept_of(other));
    for (int step = 0; step < 4; ++step) trainer.step(x, t);
    CHECK(kept_of(trainer) == last);
    CHECK(last != kept_of(plain));
    auto const got = numbers(trainer.model().master());
    for (int k = 0; k < trainer.optimizer().tensors.size; ++k) {
      NetworkTensor const& tensor = trainer.optimizer().tensors.tensor[k];
      bool const is_frozen = tensor.layer == Role::row;
      CHECK((got[std::size_t(tensor.offset)] == initial[std::size_t(tensor.offset)]) == is_frozen);
    }
  };
  check_trainer
      .operator()<Trainer<Small, MeanSquaredError, AdamW, Full<double>, Local, Execution<Space>>>();
  check_trainer.operator()<Trainer<Small, MeanSquaredError, AdamW, Full<double>, Local, Bits>>();
}
