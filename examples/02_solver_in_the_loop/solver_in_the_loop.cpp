// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Rods of a mixture conduct heat. The composition along each rod and thermometer readings over time
// are known; the conductivity as a function of the composition is not. A network represents that
// function. The solver computes temperatures from conductivities, and its adjoint computes
// gradients from readings.

#include "rods.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <algorithm>
#include <cmath>
#include <cstdio>

using rods::Space;

// clang-format off
/// Composition, 0 to 1, to conductivity, 0 to 1: more would be unstable with the solver's step.
struct ConductivityLaw : phyllo::Network<
    phyllo::Input<1>, phyllo::Linear<32>, phyllo::Tanh, phyllo::Linear<32>, phyllo::Tanh,
    phyllo::Linear<1>, phyllo::Sigmoid> {};
// clang-format on

/// The law that made the readings: the mixture conducts when its conducting part connects.
KOKKOS_INLINE_FUNCTION double true_law(double composition) {
  return 0.15 + 0.75 / (1 + Kokkos::exp(-12 * (composition - 0.55)));
}

/// Waves along each rod, (rods x faces, 1).
void set_compositions(Space const& exec, rods::Conductivity const& composition) {
  Kokkos::parallel_for(
      "compositions", Kokkos::RangePolicy<Space>(exec, 0, int(composition.extent(0))),
      KOKKOS_LAMBDA(int i) {
        int const rod = i / rods::faces;
        double const x = (i % rods::faces + 0.5) / rods::faces;
        composition(i, 0) = 0.5 + 0.5 * Kokkos::sin((2 + rod % 5) * 3.0 * x + 1.7 * rod);
      });
}

void set_true_law(Space const& exec, rods::Conductivity const& composition,
                  rods::Conductivity const& conductivity) {
  Kokkos::parallel_for(
      "true law", Kokkos::RangePolicy<Space>(exec, 0, int(composition.extent(0))),
      KOKKOS_LAMBDA(int i) { conductivity(i, 0) = true_law(composition(i, 0)); });
}

/// Largest difference between the adjoint and central differences at some faces, as a share of the
/// largest gradient among them.
double adjoint_error(Space const& exec, rods::Conductivity const& k, rods::Temperature const& u,
                     rods::Temperature const& measured, rods::Conductivity const& d_k) {
  auto const gradient = Kokkos::create_mirror_view(d_k);
  Kokkos::deep_copy(exec, gradient, d_k);
  exec.fence("gradient");
  double error = 0, largest = 0;
  for (std::size_t i = 0; i < k.extent(0); i += 37) {
    auto const face = Kokkos::subview(k, i, 0);
    auto const host = Kokkos::create_mirror_view(face);
    Kokkos::deep_copy(host, face);
    double const value = host(), step = 1e-4;
    double loss[2] = {};
    for (int side = 0; side < 2; ++side) {
      Kokkos::deep_copy(exec, face, value + (side == 1 ? step : -step));
      rods::solve(exec, k, u);
      loss[side] = rods::misfit(exec, u, measured);
    }
    Kokkos::deep_copy(exec, face, value);
    error = std::max(error, std::abs((loss[1] - loss[0]) / (2 * step) - gradient(i, 0)));
    largest = std::max(largest, std::abs(gradient(i, 0)));
  }
  return error / largest;
}

/// Root of the mean square of (network - law), as a share of the law's, over all compositions.
double law_error(Space const& exec, phyllo::Model<ConductivityLaw> const& model) {
  int const count = 201;
  auto const law = model.in_kernel();
  double difference = 0, size = 0;
  Kokkos::parallel_reduce(
      "law error", Kokkos::RangePolicy<Space>(exec, 0, count),
      KOKKOS_LAMBDA(int i, double& differences, double& sizes) {
        double const composition = double(i) / (count - 1), truth = true_law(composition);
        float const value = law(float(composition));
        differences += (value - truth) * (value - truth);
        sizes += truth * truth;
      },
      difference, size);
  return std::sqrt(difference / size);
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  int count = 16, iterations = 400;
  float rate = 0.03f;
  std::uint64_t seed = 1;
  double at_most = 0;
  CLI::App app{"Learns a conductivity law from temperatures, through a solver and its adjoint."};
  app.add_option("--rods", count)->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--iterations", iterations)->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--rate", rate, "learning rate at the start")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", seed, "seed of the initial parameters")->capture_default_str();
  app.add_option("--at-most", at_most, "fail if the law's final error is larger")
      ->check(CLI::PositiveNumber);
  CLI11_PARSE(app, argc, argv);
  try {
    Space exec;
    std::size_t const rows = std::size_t(count) * rods::faces;
    rods::Conductivity composition("composition", rows, 1), k("k", rows, 1), d_k("d_k", rows, 1);
    rods::Temperature measured("measured", count, rods::steps + 1, rods::nodes),
        u("u", count, rods::steps + 1, rods::nodes), a("a", count, rods::steps + 1, rods::nodes);
    set_compositions(exec, composition);
    set_true_law(exec, composition, k);
    rods::solve(exec, k, measured);

    // The solver computes in double, the network in float; each View is read as it is.
    phyllo::Model<ConductivityLaw> model(exec, {.batch = int(rows), .seed = seed});
    phyllo::Adam const adam{.rate = rate,
                            .schedule = phyllo::cosine_schedule(std::uint64_t(iterations), 0.01f)};
    phyllo::Optimizer optimizer(exec, model, adam);
    std::printf("%d rods, %zu conductivities, %d parameters, law error before: %.3f\n", count, rows,
                ConductivityLaw::parameter_count, law_error(exec, model));

    for (int iteration = 0; iteration < iterations; ++iteration) {
      model.forward(exec, composition, k);
      rods::solve(exec, k, u);
      rods::adjoint(exec, k, u, measured, a, d_k);
      if (iteration % (iterations / 10 + 1) == 0 || iteration + 1 == iterations)
        std::printf("iteration %5d  misfit %.3e\n", iteration, rods::misfit(exec, u, measured));
      if (iteration == 0) {
        double const error = adjoint_error(exec, k, u, measured, d_k);
        std::printf("adjoint against central differences: %.1e\n", error);
        if (!(error < 1e-5)) throw phyllo::Error("The adjoint is not the solver's gradient.");
      }
      model.backward(exec, d_k);
      optimizer.step(exec, model);
    }
    double const error = law_error(exec, model);
    std::printf("law error after: %.4f\n", error);
    if (at_most > 0 && !(error <= at_most)) {
      std::fprintf(stderr, "solver_in_the_loop: expected a law error of at most %g, got %g.\n",
                   at_most, error);
      return 1;
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "solver_in_the_loop: %s\n", error.what());
    return 1;
  }
  return 0;
}
