// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The optimizer's first pass: the norm of the gradient, whether it is finite, and clipping by it.

#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Matrix = Kokkos::View<double**, Kokkos::LayoutRight, Kokkos::HostSpace>;

struct Small : Network<Input<3>, Linear<8>, Tanh, Linear<2>> {};  // one thread
struct Large : Network<Input<190>, Linear<203>, Linear<171>> {};  // all threads, 19 blocks
constexpr float none = std::numeric_limits<float>::infinity();

template <class Net, class P> using ModelOf = Model<Net, P, Execution<Space>>;

// One instance with all threads and one with a single thread.
struct Instances {
  Space all;
  Space single = Kokkos::Experimental::partition_space(
      all, std::vector<int>(std::size_t(all.concurrency()), 1))[0];
};

double gradient(std::uint64_t i) { return 2 * random_uniform(5, 1, 0, i, 0) - 1; }

// Sums over `samples` samples, times the loss scale.
template <class M> void set_gradients(M const& model, double samples) {
  auto const& g = model.gradients();
  double const factor = samples * double(model.state()().loss_scale);
  for (std::size_t i = 0; i < model.master().size(); ++i)
    g(i) = typename M::accumulate(gradient(i) * factor);
  g(model.master().size()) = typename M::accumulate(samples);
}
template <class M> std::vector<double> numbers(M const& view) {
  return {view.data(), view.data() + view.size()};
}

// Steps of rate 1 take the clipped gradient off the parameters.
template <class Net, class P> void check_formula() {
  Space const exec;
  ModelOf<Net, P> probe(exec, {.batch = 1});
  double squares = 0;
  for (std::size_t i = 0; i < probe.master().size(); ++i) squares += gradient(i) * gradient(i);
  double const norm = std::sqrt(squares);
  for (double const share : {0.01, 0.999, 1.5, double(none)}) {
    CAPTURE(share);
    ModelOf<Net, P> model(exec, {.batch = 1, .seed = 2});
    auto const limit = float(share * norm);
    Optimizer optimizer(exec, model, Sgd{.rate = 1}, {.clipping = {.largest_norm = limit}});
    exec.fence("clipping");
    set_gradients(model, 4);
    auto const before = numbers(model.master());
    optimizer.update(exec, model);
    exec.fence("clipping");
    CHECK(double(model.state()().gradient_norm) == doctest::Approx(norm).epsilon(1e-5));
    double const factor = std::min(1.0, double(limit) / (norm + 1e-6));
    auto const after = numbers(model.master());
    double difference = 0;
    for (std::size_t i = 0; i < after.size(); ++i)
      difference = std::max(difference, std::fabs(before[i] - factor * gradient(i) - after[i]));
    CHECK(difference < 2e-6);
    int different = 0;  // of what kernels read from the master, rounded
    for (std::size_t i = 0; i < after.size(); ++i)
      different += double(model.parameters()(i)) != double(typename P::storage(model.master()(i)));
    CHECK(different == 0);
  }
}

int allocations = 0;
void count_allocation(Kokkos_Profiling_SpaceHandle, char const*, void const*, std::uint64_t) {
  ++allocations;
}

}  // namespace

TEST_CASE_TEMPLATE("clipping: the gradient's norm over all parameters, as torch has it", P,
                   Full<double>, Full<float>, Mixed<bf16, float>, Mixed<fp16, float>) {
  check_formula<Small, P>();
  check_formula<Large, P>();
}

TEST_CASE_TEMPLATE("clipping: bits do not depend on the number of threads", P, Full<double>,
                   Full<float>, Mixed<bf16, float>) {
  Instances const instances;
  std::vector<double> results[2];
  for (int k = 0; k < 2; ++k) {
    Space const& exec = k == 0 ? instances.all : instances.single;
    ModelOf<Large, P> model(exec, {.batch = 1, .seed = 2});
    Optimizer optimizer(exec, model, Adam{.rate = 1e-2f}, {.clipping = {.largest_norm = 1}});
    exec.fence("clipping");
    for (int step = 0; step < 3; ++step) {
      set_gradients(model, 7);
      optimizer.update(exec, model);
      exec.fence("clipping");
    }
    results[k] = numbers(model.master());
    results[k].push_back(double(model.state()().gradient_norm));
  }
  CHECK(results[0] == results[1]);
}

TEST_CASE("clipping: one bad number anywhere skips the step, a large one does not") {
  Space const exec;
  using M = ModelOf<Large, Full<float>>;
  M model(exec, {.batch = 1});
  Optimizer optimizer(exec, model, Sgd{.rate = 1e-30f}, {.clipping = {.largest_norm = 1}});
  exec.fence("clipping");
  auto const last = model.master().size() - 1;
  for (std::size_t const at : {std::size_t(0), std::size_t(63), std::size_t(4096), last / 2, last})
    for (float const bad : {none, -none, std::numeric_limits<float>::quiet_NaN()}) {
      set_gradients(model, 2);
      model.gradients()(at) = bad;
      auto const before = numbers(model.master());
      auto const skipped = model.state()().skipped;
      optimizer.update(exec, model);
      exec.fence("clipping");
      CHECK(model.state()().skipped == skipped + 1);
      CHECK(numbers(model.master()) == before);
    }
  for (float const large : {std::numeric_limits<float>::max(), -1e30f}) {
    set_gradients(model, 2);
    model.gradients()(last) = large;
    auto const steps = model.state()().step;
    optimizer.update(exec, model);
    exec.fence("clipping");
    CHECK(model.state()().step == steps + 1);  // its square overflows, which is a long gradient
    int wrong = 0;
    for (double const w : numbers(model.master())) wrong += !std::isfinite(w);
    CHECK(wrong == 0);
  }
}

TEST_CASE("clipping: a batch of no samples leaves every bit") {
  Space const exec;
  Trainer<Small, MeanSquaredError, Adam, Full<float>, Local, Execution<Space>> trainer(
      exec, Adam{}, {.batch = 4}, {.clipping = {.largest_norm = 0.1f}});
  Matrix const x("x", 0, 3), t("t", 0, 2);
  exec.fence("clipping");
  auto const before = numbers(trainer.model().master());
  trainer.step(x, t);
  exec.fence("clipping");
  CHECK(numbers(trainer.model().master()) == before);
  CHECK(trainer.model().state()().step == 0);
}

TEST_CASE_TEMPLATE("clipping: a trainer's step is no longer than its learning rate allows", P,
                   Full<float>, Mixed<fp16, float>) {
  Space const exec;
  Trainer<Small, MeanSquaredError, Sgd, P, Local, Execution<Space>> trainer(
      exec, Sgd{.rate = 0.5f}, {.batch = 8}, {.clipping = {.largest_norm = 1e-3f}});
  Matrix x("x", 8, 3), t("t", 8, 2);
  for (std::size_t i = 0; i < x.size(); ++i) x.data()[i] = std::sin(1.9 * double(i));
  for (std::size_t i = 0; i < t.size(); ++i) t.data()[i] = std::cos(1.3 * double(i));
  exec.fence("clipping");
  auto const before = numbers(trainer.model().master());
  for (int trial = 0; trial < 20 && trainer.model().state()().step == 0; ++trial) {
    trainer.step(x, t);  // float16 halves the scale of its loss first
    exec.fence("clipping");
  }
  auto const after = numbers(trainer.model().master());
  double squares = 0;
  for (std::size_t i = 0; i < after.size(); ++i)
    squares += (after[i] - before[i]) * (after[i] - before[i]);
  CHECK(trainer.model().state()().gradient_norm > 0.01f);
  CHECK(trainer.model().state()().step == 1);
  CHECK(std::sqrt(squares) / 0.5e-3 == doctest::Approx(1).epsilon(1e-3));
}

TEST_CASE_TEMPLATE("clipping: by value, after the norm, as torch's clip_grad_value_", P,
                   Full<double>, Full<float>, Mixed<fp16, float>) {
  Space const exec;
  double const norm = [&] {
    double squares = 0;
    for (std::size_t i = 0; i < ModelOf<Small, P>(exec, {.batch = 1}).master().size(); ++i)
      squares += gradient(i) * gradient(i);
    return std::sqrt(squares);
  }();
  for (double const largest_norm : {double(none), norm / 2}) {
    ModelOf<Small, P> model(exec, {.batch = 1, .seed = 2});
    Optimizer optimizer(exec, model, Sgd{.rate = 1},
                        {.clipping = {.largest_norm = largest_norm, .largest_value = 0.25}});
    optimizer.set_frozen(exec, 3);
    exec.fence("clipping");
    double const factor = std::min(1.0, largest_norm / (norm + 1e-6));
    auto before = numbers(model.master());
    for (int step = 0; step < 2; ++step) {
      set_gradients(model, 4);
      auto const& frozen = optimizer.tensors.tensor[3];
      if (step == 1) model.gradients()(2) = none;  // skipped
      optimizer.update(exec, model);
      exec.fence("clipping");
      auto const after = numbers(model.master());
      double difference = 0;
      int clipped = 0;
      for (int i = 0; i < frozen.offset; ++i) {
        double g = factor * gradient(std::uint64_t(i));
        clipped += std::fabs(g) > 0.25;
        g = std::fmax(-0.25, std::fmin(0.25, g));
        if (step == 1) g = 0;
        difference =
            std::max(difference, std::fabs(before[std::size_t(i)] - g - after[std::size_t(i)]));
      }
      CHECK(clipped > 3);
      // Without the frozen tensor the norm is a little smaller.
      CHECK(difference <
            (largest_norm < norm ? 0.05 : (std::is_same_v<P, Full<double>> ? 1e-15 : 2e-6)));
      before = after;
    }
  }
}

TEST_CASE("clipping: a largest norm or value that is not above zero is refused") {
  Space const exec;
  ModelOf<Small, Full<float>> model(exec, {.batch = 1});
  for (float const wrong : {0.0f, -1.0f, std::numeric_limits<float>::quiet_NaN()}) {
    std::string text;
    try {
      Optimizer optimizer(exec, model, Sgd{}, {.clipping = {.largest_norm = wrong}});
    } catch (Error const& error) {
      text = error.what();
    }
    CHECK(text.find("must be above 0") != std::string::npos);
    CHECK_THROWS_WITH_AS(Optimizer(exec, model, Sgd{}, {.clipping = {.largest_value = wrong}}),
                         doctest::Contains("the largest value of the gradient must be above 0"),
                         Error);
  }
}

TEST_CASE("clipping: a step allocates nothing") {
  Space const exec;
  ModelOf<Large, Mixed<bf16, float>> model(exec, {.batch = 1});
  Optimizer optimizer(exec, model, Adam{}, {.clipping = {.largest_norm = 1}});
  set_gradients(model, 2);
  Kokkos::Tools::Experimental::set_allocate_data_callback(count_allocation);
  Matrix const counted("counted", 2, 2);
  int const before = allocations;
  for (int step = 0; step < 5; ++step) optimizer.update(exec, model);
  exec.fence("clipping");
  Kokkos::Tools::Experimental::set_allocate_data_callback(nullptr);
  CHECK(before == 1);
  CHECK(allocations == before);
  CHECK(model.state()().step == 5);
}
