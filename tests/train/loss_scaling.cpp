// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Net : Network<Input<3>, Linear<8>, Tanh, Linear<2>> {};

template <class P, class Rule>
using TrainerOf = Trainer<Net, MeanSquaredError, Rule, P, Local, Execution<Space>>;

// The bits of everything that a step may change.
template <class T> std::vector<unsigned char> bits_of(T& trainer) {
  std::vector<unsigned char> all;
  auto const append = [&](auto const& view) {
    auto const* const from = reinterpret_cast<unsigned char const*>(view.data());
    all.insert(all.end(), from, from + view.size() * sizeof(*view.data()));
  };
  append(trainer.model().parameters());
  append(trainer.model().master());
  append(trainer.optimizer().state());
  return all;
}

Matrix values(std::size_t rows, std::size_t columns, double size) {
  Matrix v("values", rows, columns);
  for (std::size_t i = 0; i < v.size(); ++i) v.data()[i] = size * std::sin(0.4 + 1.9 * double(i));
  return v;
}

template <class Rule> void check_overflow(Rule const& rule) {
  Space const exec;
  TrainerOf<Mixed<fp16, float>, Rule> trainer(exec, rule, {.batch = 8});
  auto const x = values(8, 3, 1), small = values(8, 2, 1), large = values(8, 2, 30);
  for (int step = 0; step < 3; ++step) trainer.step(x, small);
  exec.fence("loss scaling");
  StepState const& state = trainer.model().state()();
  auto const taken = state.step;
  // Gradients of the largest targets are beyond float16 at the first scale: steps are skipped, each
  // halves the scale and changes nothing else, until one fits.
  int skipped = 0;
  while (skipped < 20) {
    auto const before = bits_of(trainer);
    float const scale = state.loss_scale;
    auto const skips = state.skipped;
    trainer.step(x, large);
    exec.fence("loss scaling");
    if (state.skipped == skips) break;
    ++skipped;
    CHECK(bits_of(trainer) == before);
    CHECK(state.loss_scale == scale / 2);
  }
  CHECK(skipped > 0);
  CHECK(skipped < 20);
  CHECK(state.step == taken + 1);
  for (std::size_t i = 0; i < trainer.model().master().size(); ++i)
    CHECK(std::isfinite(trainer.model().master()(i)));
}

}  // namespace

TEST_CASE("loss scaling: an overflow leaves every bit, and the scale recovers within 20 steps") {
  check_overflow(Sgd{.rate = 1e-3f, .momentum = 0.9f});
  check_overflow(Adam{.rate = 1e-3f});
}

TEST_CASE_TEMPLATE("loss scaling: a batch that is not a number is skipped in every precision", P,
                   Full<double>, Full<float>, Mixed<bf16, float>, Mixed<fp16, float>) {
  Space const exec;
  TrainerOf<P, Adam> trainer(exec, Adam{.rate = 1e-3f}, {.batch = 8});
  auto const x = values(8, 3, 1), t = values(8, 2, 1);
  trainer.step(x, t);
  for (double const bad :
       {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity()}) {
    auto const wrong = values(8, 3, 1);
    wrong(5, 1) = bad;
    exec.fence("loss scaling");
    auto const before = bits_of(trainer);
    auto const wrong_targets = values(8, 2, 1);
    wrong_targets(2, 1) = bad;
    trainer.step(x, wrong_targets);
    exec.fence("loss scaling");
    CHECK(bits_of(trainer) == before);
    if (std::isnan(bad)) {  // a saturated tanh hides an infinite input
      trainer.step(wrong, t);
      exec.fence("loss scaling");
      CHECK(bits_of(trainer) == before);
    }
  }
  auto const before = bits_of(trainer);
  trainer.step(x, t);
  exec.fence("loss scaling");
  CHECK(bits_of(trainer) != before);
}

TEST_CASE("loss scaling: a power of two changes no bit of what fits") {
  Space const exec;
  auto const x = values(8, 3, 1), t = values(8, 2, 1);
  std::vector<unsigned char> bits[2];
  for (int k = 0; k < 2; ++k) {
    Model<Net, Full<float>, Execution<Space>> model(exec, {.batch = 8});
    Sgd const rule{.rate = 0.1f};
    Optimizer optimizer(exec, model, rule);
    exec.fence("loss scaling");
    model.state()().loss_scale = k == 0 ? 1 : 1024;
    Matrix y("y", 8, 2), d_y("d_y", 8, 2);
    model.forward(exec, x, y);
    exec.fence("loss scaling");
    // The caller's own factor; that of the model's state is none of the gradients'.
    float const factor = k == 0 ? 1 : 1024;
    for (std::size_t i = 0; i < y.size(); ++i)
      d_y.data()[i] = (y.data()[i] - t.data()[i]) * double(factor);
    model.backward(exec, d_y, factor);
    optimizer.step(exec, model);
    exec.fence("loss scaling");
    auto const* const from = reinterpret_cast<unsigned char const*>(model.parameters().data());
    bits[k].assign(from, from + model.parameters().size() * sizeof(float));
  }
  CHECK(bits[0] == bits[1]);
}
