// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Loads the weights that digits_train wrote and evaluates them on the held-out digits.

#include "digits_data.hpp"
#include "digits_network.hpp"

#include <CLI/CLI.hpp>

#include <cstdio>

int main(int argc, char* argv[]) {
  Kokkos::ScopeGuard kokkos(argc, argv);
  std::string data = "examples/data/digits.csv.gz", weights = "digits.safetensors";
  double at_least = 0;
  CLI::App app{"Evaluates a trained network on the held-out handwritten digits."};
  app.add_option("--data", data, "gzipped CSV file of digits")->capture_default_str();
  app.add_option("--weights", weights, "safetensors file to read")->capture_default_str();
  app.add_option("--at-least", at_least, "fail below this accuracy")->check(CLI::Range(0.0, 1.0));
  CLI11_PARSE(app, argc, argv);
  try {
    DigitsData const held_out = DigitsData::read(data, DigitsData::Part::held_out);
    Kokkos::DefaultExecutionSpace exec;
    phyllo::Model<DigitsNetwork> model(exec, {.batch = 128});
    phyllo::load(exec, model, weights);

    Kokkos::View<float**> logits("logits", held_out.images.extent(0), 10);
    model.infer(exec, held_out.images, logits);
    auto const host = Kokkos::create_mirror_view(logits);
    auto const labels = Kokkos::create_mirror_view(held_out.labels);
    Kokkos::deep_copy(exec, host, logits);
    Kokkos::deep_copy(exec, labels, held_out.labels);
    exec.fence("evaluate");
    long correct = 0;
    for (std::size_t n = 0; n < host.extent(0); ++n) {
      std::size_t best = 0;
      for (std::size_t c = 1; c < 10; ++c)
        if (host(n, c) > host(n, best)) best = c;
      correct += int(best) == labels(n);
    }
    double const accuracy = double(correct) / double(held_out.size());
    std::printf("held-out accuracy %.17g\n", accuracy);
    if (accuracy < at_least) {
      std::fprintf(stderr, "digits_evaluate: expected an accuracy of at least %g, got %g.\n",
                   at_least, accuracy);
      return 1;
    }
  } catch (std::exception const& error) {
    std::fprintf(stderr, "digits_evaluate: %s\n", error.what());
    return 1;
  }
  return 0;
}
