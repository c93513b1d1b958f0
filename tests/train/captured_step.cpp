// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A captured step takes the batch that its Views hold when it is replayed, and gives the bits of a
// step.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultExecutionSpace;
using HostSpace = Kokkos::HostSpace;
struct Net : Network<Input<6>, Linear<12>, Tanh, Dropout<0.25>, Linear<3>> {};
struct Deep : Network<Input<2, 6, 6>, Conv2d<4>, BatchNorm<>, ReLU, Flatten, Linear<3>> {};

struct Waits : Local {
  static constexpr bool recordable = false;
};

constexpr int batch = 10;

// Batch number b of both trainings.
template <class Inputs, class Classes> void fill(Inputs const& x, Classes const& t, int b) {
  auto const inputs = Kokkos::create_mirror_view(HostSpace{}, x);
  auto const classes = Kokkos::create_mirror_view(HostSpace{}, t);
  for (int n = 0; n < batch; ++n) {
    for (std::size_t i = 0; i < x.extent(1); ++i)
      inputs(n, i) = float(random_uniform(9, std::uint64_t(b), 0, std::uint64_t(n), i)) - 0.5f;
    classes(n) = (n * 7 + b) % 3;
  }
  Kokkos::deep_copy(x, inputs);
  Kokkos::deep_copy(t, classes);
}

template <class TrainerType> std::vector<float> parameters(TrainerType const& trainer) {
  auto const host = Kokkos::create_mirror_view_and_copy(HostSpace{}, trainer.model().master());
  return {host.data(), host.data() + host.size()};
}

template <class Network, class Rule> void check_replay(Rule const& rule) {
  Space const exec;
  Trainer<Network, CrossEntropy, Rule> stepped(exec, rule, {.batch = batch});
  Trainer<Network, CrossEntropy, Rule> replayed(exec, rule, {.batch = batch});
  Kokkos::View<float**, Kokkos::LayoutRight> x("inputs", batch, Network::input.size());
  Kokkos::View<int*> t("classes", batch);
  fill(x, t, 0);
  stepped.step(x, t);
  replayed.step(x, t);
  exec.fence("first step");
  auto captured = replayed.capture(x, t);
  exec.fence("captured");
  CHECK(parameters(replayed) == parameters(stepped));  // nothing was trained by capturing
  for (int b = 1; b < 6; ++b) {
    fill(x, t, b);
    stepped.step(x, t);
    captured.replay();
    exec.fence("step");
    CHECK(parameters(replayed) == parameters(stepped));
    CHECK(replayed.loss() == stepped.loss());
  }
  // Both ways of stepping can be mixed.
  fill(x, t, 6);
  stepped.step(x, t);
  replayed.step(x, t);
  exec.fence("step");
  CHECK(parameters(replayed) == parameters(stepped));
}

}  // namespace

TEST_CASE("a replayed step is a step, in one pass and layer by layer") {
  check_replay<Net>(Adam{.rate = 0.01f});
  check_replay<Deep>(Sgd{.rate = 0.1f, .momentum = 0.9f});
}

TEST_CASE("only Local can be recorded by a runtime, and only where there is one") {
  static_assert(is_recordable<Local>);
  static_assert(!is_recordable<Waits>);
  using T = Trainer<Net, CrossEntropy, Sgd>;
  using Captured = CapturedStep<T, Kokkos::View<float**>, Kokkos::View<int*>>;
  CHECK(Captured::is_graph != std::is_void_v<Recorder<Space>::type>);
}

TEST_CASE("a captured step is refused once what it has recorded is another") {
  Space const exec;
  Kokkos::View<float**, Kokkos::LayoutRight> x("inputs", batch, 6);
  Kokkos::View<int*> t("classes", batch);
  fill(x, t, 0);
  Trainer<Net, SmoothedCrossEntropy, Adam> trainer(exec, Adam{.rate = 0.01f}, {.batch = batch});
  trainer.step(x, t);
  auto const weights = ParameterSelection::weights();
  trainer.set_frozen(weights);
  auto const refused = [&](auto const& change) {
    auto captured = trainer.capture(x, t);
    captured.replay();
    change();
    CHECK_THROWS_WITH_AS(captured.replay(), doctest::Contains("Capture the step again"), Error);
    trainer.capture(x, t).replay();
  };
  refused([&] { trainer.set_frozen(weights, false); });
  refused([&] { trainer.set_frozen(weights); });
  refused([&] { trainer.set_group(weights, {.rate_factor = 0.5f}); });
  refused([&] { trainer.set_group(weights, {.rate_factor = 2}); });
  refused([&] { trainer.set_loss(SmoothedCrossEntropy{.smoothing = 0.2}); });
  // What is stored on the device may change.
  auto captured = trainer.capture(x, t);
  trainer.set_rate(0.5);
  captured.replay();
}
