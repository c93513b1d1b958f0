// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Simulates convergent-beam electron diffraction of random crystals, and trains a network that says
// which lattice, element and tilt a pattern is of, on as many MPI ranks as it is started with. The
// patterns are simulated once. Stopped or killed, the same command goes on.

#include "classifiers.hpp"
#include "pattern_files.hpp"

#include <CLI/CLI.hpp>

#include <chrono>

struct Options {
  PatternOptions patterns;
  PatternFiles files{"diffraction", 4000, 540};
  TrainingOptions training = {{.epochs = 4}, {}, {}};
  std::string network = "resnet18";
  bool report_linear = false;
};

bool run(Options& options, int rank, int ranks) {
  using Clock = std::chrono::steady_clock;
  auto const begin = Clock::now();
  auto const seconds = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  options.files.make(Space(), options.patterns, rank, ranks);
  if (rank == 0)
    std::printf("%ld patterns and %ld held-out ones in %s (%.0f s)\n", options.files.training,
                options.files.held_out, options.files.folder.c_str(), seconds());
  auto const train = [&](std::string const& network) {
    TrainingOptions training = options.training;
    training.folder = options.files.folder;
    training.results = options.files.folder + "/" + network;
    training.rank = rank;
    training.ranks = ranks;
    if (network == "linear" && options.network != "linear") {
      training.epochs = 20;  // cheap: the number of epochs must not limit it
      training.rate = 1e-3;
      training.checkpoint_steps = 0;
    }
    TrainingResult const result = network == "linear"     ? train_linear(training)
                                  : network == "small"    ? train_small(training)
                                  : network == "resnet18" ? train_resnet18(training)
                                                          : train_resnet50(training);
    if (rank != 0) return result.is_complete;
    if (result.is_complete)
      std::printf("%s: held-out accuracy %.4f, results in %s (%.0f s)\n", network.c_str(),
                  result.accuracy, training.results.c_str(), seconds());
    else
      std::puts("stopped: start the same command again");
    return result.is_complete;
  };
  return (!options.report_linear || train("linear")) && train(options.network);
}

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard const kokkos(argc, argv);
    Options options;
    CLI::App app{"Trains a network on electron diffraction patterns of random crystals."};
    app.add_option("--folder", options.files.folder, "of the patterns and all results")
        ->capture_default_str();
    app.add_option("--patterns", options.files.training, "for training")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--held-out", options.files.held_out, "patterns for the accuracy")
        ->check(CLI::PositiveNumber)
        ->capture_default_str();
    app.add_option("--dose", options.patterns.dose, "electrons of a pattern; 0: no noise")
        ->check(CLI::NonNegativeNumber)
        ->capture_default_str();
    app.add_option("--network", options.network)
        ->check(CLI::IsMember({"linear", "small", "resnet18", "resnet50"}))
        ->capture_default_str();
    app.add_flag("--report-linear", options.report_linear, "train a linear classifier as well");
    options.training.add_to(app);
    try {
      app.parse(argc, argv);
      options.patterns.seed = options.training.seed;
      run(options, rank, ranks);
    } catch (CLI::ParseError const& error) {
      status = app.exit(error);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "diffraction: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
