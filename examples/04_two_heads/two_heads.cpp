// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An equation of state with two outputs: pressure, a number, and phase, a class. It is trained
// twice from the same initial parameters: by a training loop with losses written here, and by a
// Trainer with the library's losses. Both must end at the same parameters.

#include "fluid.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using phyllo::named;
using phyllo::tensors;
using Space = Fluid::Space;

struct trunk;
struct pressure;
struct phase;

// clang-format off
struct EquationOfState : phyllo::Network<
    phyllo::Input<2>, phyllo::Linear<32>, phyllo::Tanh, phyllo::Linear<32>, phyllo::Tanh,
    phyllo::Save<trunk>,
    phyllo::Linear<1>, phyllo::Output<pressure>,
    phyllo::From<trunk>, phyllo::Linear<3>, phyllo::Output<phase>> {};
// clang-format on

constexpr double phase_weight = 0.5;
// The phase is first: Trainer::evaluate counts correct predictions of the first loss.
using Loss = phyllo::Losses<phyllo::On<phase, phyllo::CrossEntropy, phase_weight>,
                            phyllo::On<pressure, phyllo::MeanSquaredError>>;
using Double = phyllo::Full<double>;
using Model = phyllo::Model<EquationOfState, Double>;
using Trainer = phyllo::Trainer<EquationOfState, Loss, phyllo::Adam, Double>;

struct Schooling {
  int samples = 4096, batch = 128, epochs = 60;
  float rate = 0.01f;
  std::uint64_t seed = 1;

  int steps() const { return samples / batch; }
  phyllo::Adam adam() const {
    return {.rate = rate,
            .schedule = phyllo::cosine_schedule(std::uint64_t(steps()) * std::uint64_t(epochs))};
  }
};

/// Gradients of sum over samples of (p - target)^2 + phase_weight cross-entropy(z, target).
template <class Pressures, class Phases>
void set_gradients(Space const& exec, int count, Kokkos::View<double**> const& p,
                   Kokkos::View<double**> const& z, Pressures const& p_target,
                   Phases const& z_target, Kokkos::View<double**> const& d_p,
                   Kokkos::View<double**> const& d_z) {
  Kokkos::parallel_for(
      "gradients of the losses", Kokkos::RangePolicy<Space>(exec, 0, count), KOKKOS_LAMBDA(int n) {
        d_p(n, 0) = 2 * (p(n, 0) - p_target(n, 0));
        double const largest = Kokkos::fmax(z(n, 0), Kokkos::fmax(z(n, 1), z(n, 2)));
        double sum = 0;
        for (int c = 0; c < 3; ++c) sum += Kokkos::exp(z(n, c) - largest);
        for (int c = 0; c < 3; ++c)
          d_z(n, c) = phase_weight *
                      (Kokkos::exp(z(n, c) - largest) / sum - (c == z_target(n) ? 1.0 : 0.0));
      });
}

void train_by_hand(Space const& exec, Model& model, Fluid const& fluid, Schooling const& s) {
  phyllo::Optimizer optimizer(exec, model, s.adam());
  Kokkos::View<double**> p("p", s.batch, 1), z("z", s.batch, 3), d_p("d_p", s.batch, 1),
      d_z("d_z", s.batch, 3);
  for (int epoch = 0; epoch < s.epochs; ++epoch)
    for (int step = 0; step < s.steps(); ++step) {
      int const first = step * s.batch;
      model.forward(exec, fluid.states(first, s.batch),
                    tensors(named<pressure>(p), named<phase>(z)));
      set_gradients(exec, s.batch, p, z, fluid.pressures(first, s.batch),
                    fluid.phases(first, s.batch), d_p, d_z);
      // The gradients are sums over samples; the optimizer divides by the weight.
      model.backward(exec, tensors(named<pressure>(d_p), named<phase>(d_z)), double(s.batch));
      optimizer.step(exec, model);
    }
}

void train(Trainer& trainer, Fluid const& fluid, Schooling const& s) {
  for (int epoch = 0; epoch < s.epochs; ++epoch) {
    for (int step = 0; step < s.steps(); ++step) {
      int const first = step * s.batch;
      trainer.step(fluid.states(first, s.batch),
                   tensors(named<pressure>(fluid.pressures(first, s.batch)),
                           named<phase>(fluid.phases(first, s.batch))));
    }
    if (epoch % (s.epochs / 6 + 1) == 0 || epoch + 1 == s.epochs)
      std::printf("epoch %3d  loss %.5f\n", epoch + 1, trainer.loss());
  }
}

struct Errors {
  double pressure = 0;  // root of the mean square, in critical pressures
  double accuracy = 0;  // of the phase
};

Errors evaluate(Space const& exec, Model const& model, Fluid const& fluid) {
  Kokkos::View<double**> p("p", fluid.size(), 1), z("z", fluid.size(), 3);
  model.infer(exec, fluid.state, tensors(named<phase>(z), named<pressure>(p)));  // in any order
  auto const p_target = fluid.pressure;
  auto const z_target = fluid.phase;
  double squares = 0, correct = 0;
  Kokkos::parallel_reduce(
      "evaluate", Kokkos::RangePolicy<Space>(exec, 0, fluid.size()),
      KOKKOS_LAMBDA(int n, double& local_squares, double& local_hits) {
        local_squares += (p(n, 0) - p_target(n, 0)) * (p(n, 0) - p_target(n, 0));
        int best = 0;
        for (int c = 1; c < 3; ++c)
          if (z(n, c) > z(n, best)) best = c;
        local_hits += best == z_target(n);
      },
      squares, correct);
  return {std::sqrt(squares / fluid.size()), correct / fluid.size()};
}

double largest_difference(Space const& exec, Model const& a, Model const& b) {
  double largest = 0;
  auto const x = a.parameters(), y = b.parameters();
  Kokkos::parallel_reduce(
      "difference", Kokkos::RangePolicy<Space>(exec, 0, int(x.extent(0))),
      KOKKOS_LAMBDA(int i, double& local) {
        local = Kokkos::fmax(local, Kokkos::fabs(x(i) - y(i)));
      },
      Kokkos::Max<double>(largest));
  return largest;
}

/// Trains both ways; whether both are as good as wanted and the same.
bool run(Schooling const& s, Errors const& wanted) {
  Space exec;
  Fluid const training = Fluid::sample(exec, 0, s.samples);
  Fluid const held_out = Fluid::sample(exec, s.samples, 1000);

  Trainer trainer(exec, s.adam(), {.batch = s.batch, .seed = s.seed});
  Model by_hand(exec, {.batch = s.batch, .seed = s.seed});
  train(trainer, training, s);
  train_by_hand(exec, by_hand, training, s);

  double const difference = largest_difference(exec, trainer.model(), by_hand);
  Errors const errors = evaluate(exec, by_hand, held_out);
  phyllo::Evaluation const evaluation = trainer.evaluate(
      held_out.state, tensors(named<pressure>(held_out.pressure), named<phase>(held_out.phase)));
  std::printf("by hand: pressure error %.4f, phase accuracy %.4f\n", errors.pressure,
              errors.accuracy);
  std::printf("trainer: loss %.5f, phase accuracy %.4f\n", evaluation.loss, evaluation.accuracy);
  std::printf("largest difference of parameters: %.1e\n", difference);
  return difference <= 1e-6 && errors.pressure <= wanted.pressure &&
         errors.accuracy >= wanted.accuracy && evaluation.accuracy >= wanted.accuracy;
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Schooling schooling;
  Errors wanted{0.1, 0.95};
  CLI::App app{"Trains one network with two heads, by hand and by a trainer."};
  app.add_option("--samples", schooling.samples)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--batch", schooling.batch)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--epochs", schooling.epochs)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rate", schooling.rate, "learning rate at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", schooling.seed)->capture_default_str();
  app.add_option("--pressure-error", wanted.pressure, "fail above it")->capture_default_str();
  app.add_option("--phase-accuracy", wanted.accuracy, "fail below it")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    if (schooling.samples < schooling.batch)
      throw phyllo::Error("--samples: expected at least one batch. Make --batch smaller.");
    if (run(schooling, wanted)) return 0;
    std::fprintf(stderr,
                 "two_heads: expected a pressure error of at most %g, a phase accuracy of at "
                 "least %g, and the same parameters both ways to 1e-6.\n",
                 wanted.pressure, wanted.accuracy);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "two_heads: %s\n", error.what());
  }
  return 1;
}
