// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rules with groups and norms of tensors, and frozen tensors under any rule.

#include <golden.hpp>
#include <phyllo/phyllo.hpp>
#include <train/kept_state.hpp>
#include <train/trust_ratio.hpp>

#include <doctest/doctest.h>

#include <rings.hpp>

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

using namespace phyllo;
using test::kept_of;
using test::TrustRatio;
using test::TwoRates;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
constexpr double infinity = std::numeric_limits<double>::infinity();

struct Small : Network<Input<3>, Linear<9>, LayerNorm<>, Tanh, Linear<2>> {};  // one thread
struct Large : Network<Input<190>, Linear<203>, BatchNorm<>, Linear<171>> {};  // all threads
struct Column : Network<Input<1>, Linear<5>> {};
struct Rows : Network<Input<6>, Linear<20>, BatchNorm<>, ReLU, Linear<3>> {};

template <class Net, class P> using ModelOf = Model<Net, P, Execution<Space>>;
template <class Net> constexpr auto tensors_of = network_tensors(Net::program::nodes);

// One instance with all threads and one with a single thread.
struct Instances {
  Space all;
  Space single = Kokkos::Experimental::partition_space(
      all, std::vector<int>(std::size_t(all.concurrency()), 1))[0];
};

double gradient(int step, int i) {
  return 2 * random_uniform(5, std::uint64_t(step), 0, std::uint64_t(i), 0) - 1;
}
constexpr int samples = 7;

// Sums over the samples, times the loss scale; zero in the padding, as passes leave it.
template <class M> void set_gradients(M const& model, int step) {
  auto const tensors = network_tensors(M::nodes);
  double const scale = samples * double(model.state()().loss_scale);
  for (int t = 0; t < tensors.size; ++t)
    for (int i = 0; i < tensors.tensor[t].count; ++i) {
      int const at = tensors.tensor[t].offset + i;
      model.gradients()(at) = typename M::accumulate(gradient(step, at) * scale);
    }
  model.gradients()(M::nodes.arena_size) = samples;
}
template <class V> std::vector<double> numbers(V const& view) {
  return {view.data(), view.data() + view.size()};
}

// Twenty steps of TrustRatio by plain loops in double, with tensor `frozen` left out.
template <class Net>
std::vector<double> reference(TrustRatio const& rule, std::vector<double> w, double largest_norm,
                              int frozen) {
  auto const& tensors = tensors_of<Net>;
  std::vector<double> velocity(w.size());
  for (int step = 1; step <= 20; ++step) {
    double squares = 0;
    for (int t = 0; t < tensors.size; ++t)
      for (int i = 0; t != frozen && i < tensors.tensor[t].count; ++i)
        squares += std::pow(gradient(step, tensors.tensor[t].offset + i), 2);
    double const clip = std::min(1.0, largest_norm / (std::sqrt(squares) + 1e-6));
    double const pace = step < 10 ? 1 : step < 20 ? 0.5 : 0.25;
    for (int t = 0; t < tensors.size; ++t) {
      if (t == frozen) continue;
      NetworkTensor const& tensor = tensors.tensor[t];
      double w_squares = 0, g_squares = 0;
      for (int i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
        w_squares += w[std::size_t(i)] * w[std::size_t(i)];
        g_squares += std::pow(clip * gradient(step, i), 2);
      }
      bool const is_matrix = std::string(tensor.name) == "weight" && tensor.layer != Role::row &&
                             tensor.layer != Role::normalization;
      double const decay = is_matrix ? rule.weight_decay : 0;
      double rate = rule.rate * pace * (is_matrix ? 1 : rule.vector_rate);
      if (is_matrix)
        rate *= rule.trust * std::sqrt(w_squares) /
                (std::sqrt(g_squares) + rule.weight_decay * std::sqrt(w_squares));
      for (int i = tensor.offset; i < tensor.offset + tensor.count; ++i) {
        double& v = velocity[std::size_t(i)];
        v = rule.momentum * v + rate * (clip * gradient(step, i) + decay * w[std::size_t(i)]);
        w[std::size_t(i)] -= v;
      }
    }
  }
  return w;
}

// The master after twenty steps, and behind it what the rule has kept.
template <class Net, class P>
std::vector<double> updated(Space const& exec, double largest_norm, int frozen,
                            std::vector<double>* wanted = nullptr) {
  using M = ModelOf<Net, P>;
  M model(exec, {.batch = 1, .seed = 3});
  Optimizer<TrustRatio, M> optimizer(exec, model, TrustRatio{},
                                     {.clipping = {.largest_norm = largest_norm}});
  optimizer.set_frozen(exec, frozen);
  exec.fence("tensor rule");
  if (wanted != nullptr)
    *wanted = reference<Net>(TrustRatio{}, numbers(model.master()), largest_norm, frozen);
  for (int step = 1; step <= 20; ++step) {
    set_gradients(model, step);
    optimizer.update(exec, model);
    exec.fence("tensor rule");
  }
  CHECK(model.state()().step == 20);
  auto got = numbers(model.master());
  int different = 0;  // of what kernels read
  for (std::size_t i = 0; i < got.size(); ++i)
    different += double(model.parameters()(i)) != double(typename P::storage(model.master()(i)));
  CHECK(different == 0);
  for (double const number : numbers(optimizer.state())) got.push_back(number);
  return got;
}

template <class Net, class P> void check_formula() {
  Space const exec;
  auto const& tensors = tensors_of<Net>;
  for (double const largest_norm : {infinity, 0.5})
    for (int const frozen : {0, 3}) {
      CAPTURE(largest_norm);
      CAPTURE(frozen);
      std::vector<double> wanted;
      auto const got = updated<Net, P>(exec, largest_norm, frozen, &wanted);
      double worst = 0;
      for (std::size_t i = 0; i < wanted.size(); ++i)
        worst = std::max(worst, std::fabs(got[i] - wanted[i]));
      CHECK(worst <= (std::is_same_v<P, Full<double>> ? 1e-14 : 4e-6));
      // The rule's numbers of tensors: a ratio, and twenty steps but for the frozen one.
      std::size_t const kept = got.size() - std::size_t(2 * tensors.size);
      CHECK(kept == 2 * wanted.size());
      for (int t = 0; t < tensors.size; ++t) {
        CHECK(got[kept + std::size_t(2 * t + 1)] == (t == frozen ? 0 : 20));
        CHECK((got[kept + std::size_t(2 * t)] == 1) ==
              (t != frozen && tensors.tensor[t].use != TensorUse::weight));
      }
    }
}

// Steps with frozen tensors against steps in which their gradients are zero.
template <class Rule> void check_frozen(Rule const& rule) {
  CAPTURE(Rule::name);
  Space const exec;
  using M = ModelOf<Large, Full<float>>;
  auto const& tensors = tensors_of<Large>;
  M frozen_model(exec, {.batch = 1, .seed = 3}), model(exec, {.batch = 1, .seed = 3});
  OptimizerOptions const options{.clipping = {.largest_norm = 1}};
  Optimizer<Rule, M> with(exec, frozen_model, rule, options), without(exec, model, rule, options);
  for (int const t : {0, 2, 5}) with.set_frozen(exec, t);
  with.set_frozen(exec, 2, false);
  CHECK(with.is_frozen(5));
  CHECK(!with.is_frozen(2));
  exec.fence("tensor rule");
  auto const initial = numbers(model.master());
  for (int step = 1; step <= 3; ++step) {
    set_gradients(frozen_model, step);
    // Not even looked at: the step counts.
    frozen_model.gradients()(tensors.tensor[5].offset) = std::numeric_limits<float>::infinity();
    set_gradients(model, step);
    for (int const t : {0, 5})
      for (int i = 0; i < tensors.tensor[t].extent; ++i)
        model.gradients()(tensors.tensor[t].offset + i) = 0;
    with.update(exec, frozen_model);
    without.update(exec, model);
    exec.fence("tensor rule");
  }
  CHECK(frozen_model.state()().step == 3);
  CHECK(frozen_model.state()().gradient_norm == model.state()().gradient_norm);
  auto const got = numbers(frozen_model.master()), wanted = numbers(model.master());
  auto const state = numbers(with.state());
  for (int t = 0; t < tensors.size; ++t) {
    CAPTURE(t);
    NetworkTensor const& tensor = tensors.tensor[t];
    bool const is_frozen = t == 0 || t == 5;
    int different = 0, moved = 0, stateful = 0;
    for (int k = tensor.offset; k < tensor.offset + tensor.count; ++k) {
      auto const i = std::size_t(k);
      different += got[i] != (is_frozen ? initial : wanted)[i];
      moved += got[i] != initial[i];
      if (Rule::states > 0) stateful += state[i] != 0;
    }
    CHECK(different == 0);
    CHECK((moved > 0) == !is_frozen);
    CHECK((stateful > 0) == (!is_frozen && Rule::states > 0));
  }
  // Thawed, they move again.
  with.set_frozen(exec, 0, false);
  set_gradients(frozen_model, 4);
  frozen_model.gradients()(tensors.tensor[5].offset) = 0;
  with.update(exec, frozen_model);
  exec.fence("tensor rule");
  CHECK(frozen_model.master()(0) != float(initial[0]));
  CHECK(frozen_model.master()(tensors.tensor[5].offset) ==
        float(initial[std::size_t(tensors.tensor[5].offset)]));
}

Matrix values(int rows, int columns, double phase) {
  Matrix v("values", std::size_t(rows), std::size_t(columns));
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = std::sin(phase + 1.9 * double(i));
  return v;
}
using Bits =
    Execution<Space, typename DefaultBackends<Space>::type, FusionLevel::tile, Reproducible<4>>;

// 100 steps of a weight that is frozen in some, against PyTorch's of tests/train/make_goldens.py;
// with a group too, whose numbers change nothing. The bias is always updated.
template <class Rule> void check_thawed(std::string const& name, Rule const& rule) {
  auto const wanted = test::golden("train/torch_rules", "frozen_" + name);
  auto const always = test::golden("train/torch_rules", name);
  Space const exec;
  using M = ModelOf<Column, Full<double>>;
  for (bool const has_groups : {false, true}) {
    CAPTURE(name);
    CAPTURE(has_groups);
    M model(exec, {.batch = 1});
    Optimizer<Rule, M> optimizer(exec, model, rule);
    if (has_groups) optimizer.set_group(exec, ParameterSelection::all(), {.rate_factor = 1});
    constexpr int bias = tensors_of<Column>.tensor[1].offset;
    for (int i = 0; i < 5; ++i) model.master()(i) = model.master()(bias + i) = 1 - 0.5 * i;
    std::size_t kept = 0;
    for (int t = 1; t <= 100; ++t) {
      optimizer.set_frozen(exec, 0, t < 4 || (t > 15 && t < 20));
      for (int i = 0; i < 5; ++i)
        model.gradients()(i) = model.gradients()(bias + i) =
            test::counter_number(std::uint64_t(t), std::uint64_t(i)) + 0.3;
      model.gradients()(M::nodes.arena_size) = 1;  // samples
      optimizer.update(exec, model);
      exec.fence("tensor rule");
      for (int const at : {1, 2, 3, 5, 10, 20, 50, 100})
        for (int i = 0; t == at && i < 5; ++i, ++kept) {
          REQUIRE(kept < wanted.size());
          CHECK(std::fabs(model.master()(i) - wanted[kept]) <= 1e-12);
          CHECK(std::fabs(model.master()(bias + i) - always[kept]) <= 1e-12);
        }
    }
    CHECK(kept == wanted.size());
  }
}

}  // namespace

TEST_CASE("network tensors: those of the file, in the order of the arena") {
  auto const& tensors = tensors_of<Rows>;
  int k = 0, end = 0;
  for (ParameterEntry const& entry : parameter_table<Rows>()) {
    if (entry.is_buffer) continue;
    REQUIRE(k < tensors.size);
    NetworkTensor const& t = tensors.tensor[k++];
    CHECK(t.offset == entry.offset);
    CHECK(t.offset == end);
    CHECK(t.count == entry.size());
    CHECK(t.extent >= t.count);
    CHECK(entry.name == std::to_string(t.node - 1) + "." + t.name);
    end = t.offset + t.extent;
  }
  CHECK(k == tensors.size);
  CHECK(end == Rows::program::nodes.arena_size);
  TensorUse const uses[] = {TensorUse::weight, TensorUse::bias,   TensorUse::scale,
                            TensorUse::bias,   TensorUse::weight, TensorUse::bias};
  REQUIRE(tensors.size == 6);
  for (int t = 0; t < 6; ++t) CHECK(tensors.tensor[t].use == uses[t]);
  CHECK(tensors.tensor[2].layer == Role::normalization);
}

TEST_CASE_TEMPLATE("tensor rule: norms, groups and a frozen tensor follow the formula", P,
                   Full<double>,
                   Mixed<bf16, float> PHYLLO_IN_VERIFY(, Full<float>, Mixed<fp16, float>)) {
  check_formula<Small, P>();
  check_formula<Large, P>();
}

TEST_CASE_TEMPLATE("tensor rule: bits do not depend on the number of threads", P,
                   Full<double> PHYLLO_IN_VERIFY(, Full<float>, Mixed<bf16, float>)) {
  Instances const instances;
  CHECK(updated<Large, P>(instances.all, 1, 2) == updated<Large, P>(instances.single, 1, 2));
}

TEST_CASE("tensor rule: teams sum tensors as a processor does") {
  Space const exec;
  using M = ModelOf<Large, Full<double>>;
  M model(exec, {.batch = 1, .seed = 3});
  Optimizer<TrustRatio, M> optimizer(exec, model, TrustRatio{});
  RuleTensors<TrustRatio, M> tensors(exec, "teams", TrustRatio{}, {0, M::nodes.arena_size}, 1024);
  tensors.set_entries(exec, [](int t, TensorEntry& entry) { entry.frozen = t == 1; });
  set_gradients(model, 1);
  Kokkos::View<double*, Kokkos::HostSpace> const kept("kept", 2 * tensors.table.size);
  MeasureTensors<TrustRatio, double> const work{TrustRatio{},
                                                model.state().data(),
                                                model.gradients().data(),
                                                model.master().data(),
                                                optimizer.state().data(),
                                                M::nodes.arena_size,
                                                0,
                                                tensors.arena(kept.data())};
  int const blocks = int(tensors.block_count());
  std::vector<double> sums[2];
  for (int k = 0; k < 2; ++k) {
    for (int i = 0; i < 2 * blocks; ++i) work.tensors.sums[i] = -1;
    if (k == 0)
      for (int b = 0; b < blocks; ++b) work(b);
    else
      Kokkos::parallel_for("teams", Kokkos::TeamPolicy<Space>(exec, blocks, Kokkos::AUTO),
                           MeasureTensorsByTeam<TrustRatio, double>{work});
    exec.fence("tensor rule");
    sums[k].assign(work.tensors.sums, work.tensors.sums + 2 * blocks);
  }
  int left = 0;
  for (std::size_t i = 0; i < sums[0].size(); ++i) {
    CHECK(sums[1][i] == doctest::Approx(sums[0][i]).epsilon(1e-12));
    left += sums[0][i] == -1;
  }
  CHECK(left == 2);  // both sums of the frozen tensor's only block
}

TEST_CASE("frozen tensors: neither updated nor decayed, nor in the norm, under any rule") {
  check_frozen(Sgd{.rate = 0.1, .momentum = 0.9, .weight_decay = 0.1});
  check_frozen(Adam{.rate = 0.1, .weight_decay = 0.1});
  check_frozen(TrustRatio{});
  check_frozen(TwoRates{});
}

TEST_CASE("frozen tensors: updated again, they count their own steps, as PyTorch's") {
  check_thawed("sgd_nesterov",
               Sgd{.rate = 0.1, .momentum = 0.9, .nesterov = true, .weight_decay = 0.02});
  check_thawed("sgd_dampening",
               Sgd{.rate = 0.1, .momentum = 0.8, .dampening = 0.3, .weight_decay = 0.01});
  check_thawed(
      "adam",
      Adam{.rate = 0.02, .beta1 = 0.8, .beta2 = 0.99, .epsilon = 1e-6, .weight_decay = 0.1});
  check_thawed("adamw", AdamW{.rate = 0.02, .weight_decay = 0.2});
  check_thawed("amsgrad", AmsGrad{.rate = 0.02, .beta2 = 0.95, .weight_decay = 0.1});
  check_thawed("nadam",
               NAdam{.rate = 0.02, .beta2 = 0.99, .weight_decay = 0.1, .momentum_decay = 0.04});
  check_thawed("rms_prop_momentum",
               RmsProp{.rate = 0.01, .alpha = 0.9, .momentum = 0.8, .weight_decay = 0.1});
  check_thawed("adagrad",
               Adagrad{.rate = 0.2, .rate_decay = 0.05, .epsilon = 1e-8, .weight_decay = 0.1});
}

TEST_CASE("tensor rule: groups without sums have their own rates") {
  Space const exec;
  using M = ModelOf<Small, Full<double>>;
  M model(exec, {.batch = 1, .seed = 3});
  Optimizer<TwoRates, M> optimizer(exec, model, TwoRates{});
  set_gradients(model, 1);
  auto const before = numbers(model.master());
  optimizer.update(exec, model);
  exec.fence("tensor rule");
  for (int t = 0; t < optimizer.tensors.size; ++t) {
    NetworkTensor const& tensor = optimizer.tensors.tensor[t];
    double const rate = tensor.use == TensorUse::bias ? 0.2 : 0.1;
    for (int i = tensor.offset; i < tensor.offset + tensor.count; ++i)
      CHECK(model.master()(i) ==
            doctest::Approx(before[std::size_t(i)] - rate * gradient(1, i)).epsilon(1e-14));
  }
}

TEST_CASE("frozen tensors: a step that does not count restores running statistics") {
  Space const exec;
  Trainer<Rows, MeanSquaredError, Adam, Full<double>, Local, Execution<Space>> trainer(
      exec, Adam{}, {.batch = 8});
  for (int t = 0; t < trainer.optimizer().tensors.size; t += 2)
    trainer.optimizer().set_frozen(exec, t);
  auto const x = values(8, 6, 0.3), t = values(8, 3, 0.8);
  trainer.step(x, t);
  auto const before = kept_of(trainer);
  t(3, 1) = std::numeric_limits<double>::quiet_NaN();
  trainer.step(x, t);
  CHECK(kept_of(trainer) == before);
  for (int tensor = 0; tensor < trainer.optimizer().tensors.size; ++tensor)
    trainer.optimizer().set_frozen(exec, tensor);
  x(2, 4) = std::numeric_limits<double>::quiet_NaN();
  t(3, 1) = 0;
  auto const parameters = numbers(trainer.model().parameters());
  trainer.step(x, t);
  exec.fence("tensor rule");
  CHECK(numbers(trainer.model().parameters()) == parameters);
}

TEST_CASE("tensor rule: trained by Trainer, Reproducible, captured steps and from a checkpoint") {
  Space const exec;
  auto const x = values(16, 6, 0.3), t = values(16, 3, 0.8);
  auto const check = [&](auto& trainer, auto& other) {
    double const first = trainer.evaluate(x, t).loss;
    trainer.optimizer().set_frozen(exec, 0);
    other.optimizer().set_frozen(exec, 0);
    auto const frozen = numbers(trainer.model().parameters());
    MemoryCheckpoint checkpoint(trainer);
    trainer.step(x, t);
    other.step(x, t);
    auto captured = trainer.capture(x, t);
    for (int step = 1; step < 12; ++step) {
      captured.replay();
      other.step(x, t);
    }
    CHECK(kept_of(trainer) == kept_of(other));
    checkpoint.store(trainer);
    for (int step = 0; step < 12; ++step) trainer.step(x, t);
    auto const last = kept_of(trainer);
    checkpoint.restore(trainer);
    CHECK(kept_of(trainer) == kept_of(other));
    for (int step = 0; step < 12; ++step) trainer.step(x, t);
    CHECK(kept_of(trainer) == last);
    CHECK(trainer.evaluate(x, t).loss < first);
    auto const got = numbers(trainer.model().parameters());
    for (int i = 0; i < trainer.optimizer().tensors.tensor[0].count; ++i)
      CHECK(got[std::size_t(i)] == frozen[std::size_t(i)]);
  };
  {
    using T =
        Trainer<Rows, MeanSquaredError, TrustRatio, Mixed<fp16, float>, Local, Execution<Space>>;
    T trainer(exec, TrustRatio{}, {.batch = 16}), other(exec, TrustRatio{}, {.batch = 16});
    check(trainer, other);
  }
  {
    using T = Trainer<Rows, MeanSquaredError, TrustRatio, Full<double>, Local, Bits>;
    T trainer(exec, TrustRatio{}, {.batch = 16}), other(exec, TrustRatio{}, {.batch = 16});
    check(trainer, other);
  }
}

TEST_CASE("frozen tensors: one that does not exist is refused") {
  Space const exec;
  using M = ModelOf<Rows, Full<float>>;
  M model(exec, {.batch = 1});
  Optimizer<Sgd, M> optimizer(exec, model, Sgd{});
  for (int const tensor : {-1, 6})
    CHECK_THROWS_WITH_AS(optimizer.set_frozen(exec, tensor),
                         doctest::Contains("expected a parameter tensor from 0 to 5, got"), Error);
}
