// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The rate between steps, the rule that lowers it, and averages of weights.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <golden.hpp>
#include <sentence_of.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

using namespace phyllo;
using test::sentence_of;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;
struct Line : Network<Input<2>, Linear<3>, BatchNorm<>, Tanh, Linear<1>> {};
using Training = Trainer<Line, MeanSquaredError, Sgd, Full<double>, Local, Execution<Space>>;

struct Data {
  Matrix x{"x", 8, 2}, t{"t", 8, 1};
  Data() {
    for (int n = 0; n < 8; ++n) {
      x(n, 0) = std::sin(1.0 + n);
      x(n, 1) = std::cos(2.0 * n);
      t(n, 0) = x(n, 0) * x(n, 1);
    }
  }
};
template <class V> std::vector<double> numbers(V const& v) {
  return {v.data(), v.data() + v.size()};
}

}  // namespace

// Of tests/train/make_goldens.py: losses that fall, stay and fall again, with noise.
TEST_CASE("a plateau lowers the rate as PyTorch's does") {
  ReduceOnPlateau const plateaus[] = {
      {.factor = 0.5, .patience = 3},
      {.factor = 0.3, .patience = 2, .threshold = 1e-2, .smallest = 1e-3, .cooldown = 4}};
  char const* const names[] = {"plateau", "plateau_cooldown"};
  for (int k = 0; k < 2; ++k) {
    INFO(names[k]);
    auto const wanted = test::golden("train/torch_schedules", names[k]);
    REQUIRE(wanted.size() == 100);
    ReduceOnPlateau plateau = plateaus[k];
    double rate = 0.3;
    for (int t = 0; t < 100; ++t) {
      CHECK(std::fabs(rate - wanted[std::size_t(t)]) <= 1e-12);
      double const noise = test::counter_number(500, std::uint64_t(t));
      rate = plateau(rate, 2.0 / (1 + std::min(t, 25) + std::max(t - 70, 0)) + 0.01 * noise);
    }
  }
}

TEST_CASE("the rate is set between steps, in captured ones too") {
  Space const exec;
  Data const d;
  Schedule const schedule = step_decay_schedule(2, 0.5);
  Training by_rule(exec, Sgd{.rate = 0.25, .schedule = schedule}, {.batch = 8});
  Training set(exec, Sgd{.rate = 0.75, .schedule = schedule}, {.batch = 8});
  set.set_rate(0.25);
  for (int step = 0; step < 4; ++step) {
    by_rule.step(d.x, d.t);
    set.step(d.x, d.t);
    CHECK(set.learning_rate() == (step < 2 ? 0.25 : 0.125));
    CHECK(set.learning_rate() == by_rule.learning_rate());
  }
  CHECK(numbers(set.model().parameters()) == numbers(by_rule.model().parameters()));
  auto captured = set.capture(d.x, d.t);
  set.set_rate(0);
  auto const before = numbers(set.model().parameters());
  captured.replay();
  exec.fence("rate");
  CHECK(numbers(set.model().parameters()) == before);
  set.set_rate(1);
  captured.replay();
  CHECK(set.learning_rate() == 0.25);  // the sixth step
  CHECK(numbers(set.model().parameters()) != before);
  CHECK(sentence_of([&] { set.set_rate(-1); }) ==
        set.model().name() + "/sgd: expected a finite learning rate of at least 0, got -1.000000.");
  CHECK(sentence_of([&] { set.set_rate(std::numeric_limits<double>::quiet_NaN()); }) != "");
}

TEST_CASE("a plateau lowers the rate when patience ends") {
  ReduceOnPlateau plateau{.factor = 0.5, .patience = 2, .threshold = 0.1, .smallest = 0.2};
  double rate = 1;
  double const losses[] = {4, 3.9, 3.5, 3.4, 3.3, 3.2, 3.1, 3.0, std::nan(""), 3.2, 3.2};
  double const wanted[] = {1, 1, 1, 1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25};
  for (int k = 0; k < 11; ++k) {
    rate = plateau(rate, losses[k]);
    CAPTURE(k);
    CHECK(rate == wanted[k]);
  }
  for (int k = 0; k < 3; ++k) rate = plateau(rate, 9);
  CHECK(rate == 0.2);
}

// As torch's: the two evaluations after a reduction are not counted.
TEST_CASE("a plateau rests after a reduction") {
  ReduceOnPlateau plateau{.factor = 0.5, .patience = 1, .cooldown = 2};
  double rate = 1;
  double const wanted[] = {1, 1, 0.5, 0.5, 0.5, 0.5, 0.25, 0.25};
  for (double const next : wanted) {
    rate = plateau(rate, 1);
    CHECK(rate == next);
  }
}

TEST_CASE("averages of weights follow their formulas") {
  Space const exec;
  Data const d;
  for (bool const equal : {false, true}) {
    Training trainer(exec, Sgd{.rate = 0.3, .momentum = 0.5}, {.batch = 8});
    WeightAverage average(exec, trainer.model(), {.decay = 0.75, .equal = equal});
    CHECK(sentence_of([&] { average.copy_to(exec, trainer.model()); }) ==
          trainer.model().name() +
              "/weight average: there is no average yet. Call update after a step.");
    std::vector<double> wanted, buffers;
    for (int step = 1; step <= 5; ++step) {
      trainer.step(d.x, d.t);
      average.update(exec, trainer.model());
      exec.fence("average");
      auto const w = numbers(trainer.model().master()), b = numbers(trainer.model().buffers());
      double const share = step == 1 ? 1 : equal ? 1.0 / step : 0.25;
      wanted.resize(w.size());
      buffers.resize(b.size());
      for (std::size_t i = 0; i < w.size(); ++i) wanted[i] += share * (w[i] - wanted[i]);
      for (std::size_t i = 0; i < b.size(); ++i) buffers[i] += share * (b[i] - buffers[i]);
    }
    auto other = trainer.model().clone(exec);
    average.copy_to(exec, other);
    exec.fence("average");
    auto const got = numbers(other.parameters()), statistics = numbers(other.buffers());
    for (std::size_t i = 0; i < got.size(); ++i)
      CHECK(got[i] == doctest::Approx(wanted[i]).epsilon(1e-14));
    for (std::size_t i = 0; i < statistics.size(); ++i)
      CHECK(statistics[i] == doctest::Approx(buffers[i]).epsilon(1e-5));
  }
  Training trainer(exec, Sgd{}, {.batch = 8});
  CHECK(sentence_of([&] { WeightAverage average(exec, trainer.model(), {.decay = 1.5}); }) ==
        trainer.model().name() +
            "/weight average: the decay must be from 0 to 1, but it is 1.500000.");
}
