// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// An LSTM and a small Transformer learn to forecast a chaotic system, the Lorenz-96 model, which
// the program integrates itself. Each forecast is fed back as input; the program measures how long
// it stays with the truth.

#include "forecast_networks.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using Space = Kokkos::DefaultExecutionSpace;
using Sequences = Kokkos::View<float***>;  // (samples, sites, times)

struct Options {
  int steps = 3000, batch = 64, starts = 256, forecasts = 64;
  double rate = 3e-3, at_least = 0;
  std::uint64_t seed = 1;
  std::string output = "forecast.csv";
};

/// Mean and deviation of a site, and deviation of its change in an interval: the same at all sites,
/// because the system is a circle.
struct Scale {
  double mean = 0, deviation = 1, change = 1;
};

Scale scale_of(Space const& exec, Sequences const& truth) {
  double sum = 0, squares = 0, changes = 0;
  int const times = int(truth.extent(2)), rows = int(truth.extent(0) * truth.extent(1));
  Kokkos::parallel_reduce(
      "scale", Kokkos::RangePolicy(exec, 0, rows),
      KOKKOS_LAMBDA(int i, double& s, double& s2, double& d2) {
        for (int t = 0; t < times; ++t) {
          double const x = truth(i / lorenz96::sites, i % lorenz96::sites, t);
          s += x;
          s2 += x * x;
          double const d = t > 0 ? x - truth(i / lorenz96::sites, i % lorenz96::sites, t - 1) : 0;
          d2 += d * d;
        }
      },
      sum, squares, changes);
  double const count = double(rows) * times, mean = sum / count;
  return {mean, std::sqrt(squares / count - mean * mean), std::sqrt(changes / (count - rows))};
}

/// Windows of trajectories as inputs, and the change behind each of their times as targets.
struct FillBatch {
  Sequences truth, inputs, targets;
  Scale scale;
  std::uint64_t seed, step;

  KOKKOS_FUNCTION void operator()(int n) const {
    auto const draw = [&](std::uint32_t number, int below) {
      return int(phyllo::random_uniform(seed, step, 0, std::uint64_t(n), number) * float(below));
    };
    int const start = draw(0, int(truth.extent(0)));
    int const first = draw(1, int(truth.extent(2)) - window);
    for (int k = 0; k < lorenz96::sites; ++k)
      for (int t = 0; t < window; ++t) {
        double const x = truth(start, k, first + t);
        inputs(n, k, t) = float((x - scale.mean) / scale.deviation);
        targets(n, k, t) = float((truth(start, k, first + t + 1) - x) / scale.change);
      }
  }
};

/// Moves each window on by one interval, whose last state is the forecast.
struct Advance {
  Sequences inputs, changes, forecast;
  Scale scale;
  int time;

  KOKKOS_FUNCTION void operator()(int n) const {
    for (int k = 0; k < lorenz96::sites; ++k) {
      double const x = inputs(n, k, window - 1) * scale.deviation + scale.mean +
                       changes(n, k, window - 1) * scale.change;
      for (int t = 0; t + 1 < window; ++t) inputs(n, k, t) = inputs(n, k, t + 1);
      inputs(n, k, window - 1) = float((x - scale.mean) / scale.deviation);
      forecast(n, k, time) = float(x);
    }
  }
};

/// Mean time until the error exceeds half of the deviation of the climate, over all forecasts.
///
/// source   valid prediction time: Vlachas et al., Neural Networks 126 (2020) 191, eq. 26
double valid_time(Sequences const& truth, Sequences const& forecast, double deviation) {
  auto const expected = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), truth);
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), forecast);
  double sum = 0;
  for (std::size_t n = 0; n < got.extent(0); ++n) {
    std::size_t t = 0;
    for (; t < got.extent(2); ++t) {
      double squares = 0;
      for (std::size_t k = 0; k < got.extent(1); ++k)
        squares += std::pow(double(got(n, k, t)) - double(expected(n, k, t + window)), 2);
      if (!(std::sqrt(squares / lorenz96::sites) < deviation / 2)) break;
    }
    sum += double(t) * lorenz96::interval;
  }
  return sum / double(got.extent(0));
}

/// Trains a network, and returns its forecasts behind the windows with which `held_out` begins.
template <class Net>
Sequences forecast(Space const& exec, char const* name, Options const& options,
                   Sequences const& truth, Sequences const& held_out, Scale const& scale) {
  phyllo::Trainer<Net, phyllo::MeanSquaredError, phyllo::Adam> trainer(
      exec,
      phyllo::Adam{.rate = options.rate,
                   .schedule = phyllo::cosine_schedule(std::uint64_t(options.steps), 0.01,
                                                       std::uint64_t(options.steps / 20))},
      {.batch = options.batch, .seed = options.seed}, {.clipping = {.largest_norm = 1}});
  Sequences const inputs("inputs", std::size_t(options.batch), lorenz96::sites, window);
  Sequences const targets("targets", std::size_t(options.batch), lorenz96::sites, window);
  std::printf("%s: %d parameters\n", name, Net::parameter_count);
  Kokkos::Timer timer;
  for (int step = 0; step < options.steps; ++step) {
    Kokkos::parallel_for(
        "batch", Kokkos::RangePolicy(exec, 0, options.batch),
        FillBatch{truth, inputs, targets, scale, options.seed, std::uint64_t(step)});
    trainer.step(inputs, targets);
    if ((step + 1) % std::max(options.steps / 5, 1) == 0)
      std::printf("  step %5d  loss %.2e  %.0f s left\n", step + 1, trainer.loss(),
                  timer.seconds() * (options.steps - step - 1) / (step + 1));
  }
  int const starts = int(held_out.extent(0)), times = int(held_out.extent(2)) - window;
  Sequences const windows("windows", std::size_t(starts), lorenz96::sites, window);
  Sequences const changes("changes", std::size_t(starts), lorenz96::sites, window);
  Sequences const result("forecast", std::size_t(starts), lorenz96::sites, std::size_t(times));
  Kokkos::parallel_for(
      "windows", Kokkos::RangePolicy(exec, 0, starts), KOKKOS_LAMBDA(int n) {
        for (int k = 0; k < lorenz96::sites; ++k)
          for (int t = 0; t < window; ++t)
            windows(n, k, t) = float((held_out(n, k, t) - scale.mean) / scale.deviation);
      });
  for (int time = 0; time < times; ++time) {
    trainer.model().infer(exec, windows, changes);
    Kokkos::parallel_for("advance", Kokkos::RangePolicy(exec, 0, starts),
                         Advance{windows, changes, result, scale, time});
  }
  exec.fence("forecast");
  return result;
}

/// The first forecast: truth, LSTM and Transformer, one line a time.
void write_csv(std::string const& path, Sequences const& truth, Sequences const& recurrent,
               Sequences const& attentive) {
  std::ofstream file(path);
  int const times = int(recurrent.extent(2));
  for (auto const& [view, begin] :
       {std::pair(truth, window), std::pair(recurrent, 0), std::pair(attentive, 0)}) {
    auto const host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), view);
    for (int t = 0; t < times; ++t)
      for (int k = 0; k < lorenz96::sites; ++k)
        file << host(0, std::size_t(k), std::size_t(begin + t))
             << (k + 1 < lorenz96::sites ? ',' : '\n');
  }
}

void run(Options const& options) {
  Space exec;
  double const exponent = lorenz96::lyapunov_exponent(20000);
  auto const truth = lorenz96::trajectories(exec, 0, options.starts, 400);
  int const times = 160;
  auto const held_out = lorenz96::trajectories(exec, 100000, options.forecasts, window + times);
  Scale const scale = scale_of(exec, truth);
  std::printf("Lorenz-96, %d sites, forcing %g: Lyapunov time %.2f, deviation %.2f\n",
              lorenz96::sites, lorenz96::forcing, 1 / exponent, scale.deviation);
  auto const recurrent = forecast<RecurrentForecast>(exec, "LSTM", options, truth, held_out, scale);
  auto const attentive =
      forecast<AttentiveForecast>(exec, "Transformer", options, truth, held_out, scale);
  Sequences const last("persistence", std::size_t(options.forecasts), lorenz96::sites, times);
  Kokkos::parallel_for(
      "persistence", Kokkos::RangePolicy(exec, 0, options.forecasts), KOKKOS_LAMBDA(int n) {
        for (int k = 0; k < lorenz96::sites; ++k)
          for (int t = 0; t < times; ++t) last(n, k, t) = held_out(n, k, window - 1);
      });
  double smallest = times;
  auto const report = [&](char const* name, Sequences const& forecast) {
    double const time = valid_time(held_out, forecast, scale.deviation);
    std::printf("%-12s valid for %.2f, %.2f Lyapunov times\n", name, time, time * exponent);
    if (name != std::string("persistence")) smallest = std::min(smallest, time * exponent);
  };
  report("persistence", last);
  report("LSTM", recurrent);
  report("Transformer", attentive);
  write_csv(options.output, held_out, recurrent, attentive);
  std::printf("first forecast in %s; draw it with plot_forecast.py\n", options.output.c_str());
  if (options.at_least > 0 && !(smallest >= options.at_least))
    throw phyllo::Error("expected a valid time of at least " + std::to_string(options.at_least) +
                        " Lyapunov times, got " + std::to_string(smallest) + ".");
}

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  Options options;
  CLI::App app{"An LSTM and a Transformer forecast a chaotic system."};
  app.add_option("--steps", options.steps, "steps of training of each network")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--batch", options.batch)->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--starts", options.starts, "trajectories to learn from")
      ->check(CLI::Range(1, 90000))
      ->capture_default_str();
  app.add_option("--forecasts", options.forecasts, "held-out forecasts")
      ->check(CLI::Range(1, 10000))
      ->capture_default_str();
  app.add_option("--rate", options.rate, "largest learning rate")
      ->check(CLI::PositiveNumber)
      ->capture_default_str();
  app.add_option("--seed", options.seed)->capture_default_str();
  app.add_option("--output", options.output, "file of the first forecast")->capture_default_str();
  app.add_option("--at-least", options.at_least,
                 "fail if a network's valid time is shorter, in Lyapunov times");
  CLI11_PARSE(app, argc, argv);
  try {
    run(options);
  } catch (std::exception const& error) {
    std::fprintf(stderr, "forecast_lorenz96: %s\n", error.what());
    return 1;
  }
  return 0;
}
