// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network replaces the source term of a reaction-diffusion solver, inside its stencil kernel.
//
//  1. The true solver runs and its fields are recorded.
//  2. The source is the change of a cell without that of diffusion. The network learns it as a
//     function of the cell's state.
//  3. The same stencil runs again from another initial state, once with the true source and once
//     with the network in its place, and the two runs are compared.

#include "gray_scott.hpp"
#include "source_network.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <utility>

using Trainer = phyllo::Trainer<SourceNetwork, phyllo::MeanSquaredError, phyllo::Adam>;
using Closure = phyllo::InKernel<SourceNetwork, phyllo::Full<float>>;

// A source with the interface of GrayScott. The closure is a view of the trained parameters, two
// pointers wide, and every thread calls it for its own cell.
struct LearnedSource {
  Closure closure;

  KOKKOS_FUNCTION Rates operator()(double u, double v) const {
    auto const y = closure(network_input(u, v));
    return {rate_unit * double(y[0]), rate_unit * double(y[1])};
  }
};

// The samples of a training step, from all snapshots and positions.
void gather(Space const& exec, Samples const& from, Samples const& to, long step) {
  // A stride without a common factor visits every sample before it repeats one.
  long const samples = long(from.extent(0)), stride = 1000003, first = step * long(to.extent(0));
  Kokkos::parallel_for(
      "gather", Kokkos::RangePolicy(exec, 0, int(to.extent(0))), KOKKOS_LAMBDA(int n) {
        long const sample = (first + n) * stride % samples;
        to(n, 0) = from(sample, 0);
        to(n, 1) = from(sample, 1);
      });
}

struct Norms {
  double difference = 0, truth = 0, mean = 0;  // sums of squares; mean of the other field
};
Norms compare(Space const& exec, Field const& truth, Field const& other) {
  Norms s;
  int const n = int(truth.extent(0));
  Kokkos::parallel_reduce(
      "compare", Kokkos::MDRangePolicy(exec, {0, 0}, {n, n}),
      KOKKOS_LAMBDA(int i, int j, double& difference, double& square, double& mean) {
        double const d = other(i, j) - truth(i, j);
        difference += d * d;
        square += truth(i, j) * truth(i, j);
        mean += other(i, j) / (n * n);
      },
      s.difference, s.truth, s.mean);
  return s;
}

void write(Space const& exec, Field const& f, std::ofstream& file) {
  auto const host = Kokkos::create_mirror_view(f);
  Kokkos::deep_copy(exec, host, f);
  exec.fence("write");
  for (std::size_t i = 0; i < host.extent(0); ++i)
    for (std::size_t j = 0; j < host.extent(1); ++j)
      file << host(i, j) << (j + 1 < host.extent(1) ? ',' : '\n');
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  constexpr int every = 20;    // steps between two snapshots
  constexpr int batch = 1024;  // samples of a training step
  int cells = 64, snapshots = 100, training_steps = 6000, steps = 2000;
  double at_most = 1;
  std::string fields;
  CLI::App app{"Learns the source of a reaction-diffusion solver and runs inside its stencil."};
  app.add_option("--cells", cells, "cells in each direction")
      ->check(CLI::Range(8, 1024))
      ->capture_default_str();
  app.add_option("--snapshots", snapshots, "recorded snapshots")
      ->check(CLI::Range(1, 500))
      ->capture_default_str();
  app.add_option("--training-steps", training_steps)
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--steps", steps, "steps of the coupled run")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--fields", fields, "file for plot_fields.py, written at the end");
  app.add_option("--at-most", at_most, "fail above this relative error of v at the end");
  CLI11_PARSE(app, argc, argv);

  Space exec;
  State truth("truth", cells), next("next", cells), coupled("coupled", cells);

  // 1. The true solver, recorded.
  int const samples = snapshots * cells * cells;
  Samples inputs("inputs", std::size_t(samples), 2), targets("targets", std::size_t(samples), 2);
  begin(exec, truth, 1);
  for (int step = 0; step < snapshots * every; ++step) {
    advance(exec, GrayScott{}, truth, next);
    if (step % every == 0) record(exec, truth, next, inputs, targets, step / every * cells * cells);
    std::swap(truth, next);
  }

  // 2. The network learns.
  Trainer trainer(
      exec, {.rate = 5e-3f, .schedule = phyllo::cosine_schedule(std::uint64_t(training_steps))},
      {.batch = batch, .seed = 1});
  std::printf("the network has %d parameters and learns from %d cells of %d snapshots\n",
              SourceNetwork::parameter_count, samples, snapshots);
  Samples batch_inputs("batch inputs", std::size_t(batch), 2);
  Samples batch_targets("batch targets", std::size_t(batch), 2);
  for (int step = 0; step < training_steps; ++step) {
    gather(exec, inputs, batch_inputs, step);
    gather(exec, targets, batch_targets, step);
    trainer.step(batch_inputs, batch_targets);
    if ((step + 1) % ((training_steps + 4) / 5) == 0 || step + 1 == training_steps)
      std::printf("step %5d  error of the source %.1e\n", step + 1,
                  rate_unit * std::sqrt(trainer.loss()));
  }

  // 3. The coupled run.
  LearnedSource const learned{trainer.model().in_kernel()};
  begin(exec, truth, 2);
  begin(exec, coupled, 2);
  std::printf("\n   time   mean of v: true   coupled   relative error of v\n");
  double error = 0, seconds[2] = {};
  for (int step = 0; step <= steps; ++step) {
    if (step % ((steps + 9) / 10) == 0 || step == steps) {
      Norms const n = compare(exec, truth.v, coupled.v), t = compare(exec, truth.v, truth.v);
      error = std::sqrt(n.difference / n.truth);
      std::printf("%7.0f %17.5f %9.5f %21.5f\n", step * time_step, t.mean, n.mean, error);
    }
    if (step == steps) break;
    Kokkos::Timer timer;
    advance(exec, GrayScott{}, truth, next);
    std::swap(truth, next);
    exec.fence("true step");
    seconds[0] += timer.seconds();
    timer.reset();
    advance(exec, learned, coupled, next);
    std::swap(coupled, next);
    exec.fence("coupled step");
    seconds[1] += timer.seconds();
  }
  double const updates = double(steps) * cells * cells;
  std::printf("a cell and step takes %.0f ns with the true source, %.0f ns with the network\n",
              1e9 * seconds[0] / updates, 1e9 * seconds[1] / updates);

  if (!fields.empty()) {
    std::ofstream file(fields);
    write(exec, truth.v, file);
    write(exec, coupled.v, file);
  }
  if (!(error <= at_most)) {
    std::fprintf(stderr, "reaction_diffusion: the relative error of v is %g, wanted at most %g.\n",
                 error, at_most);
    return 1;
  }
  return 0;
}
