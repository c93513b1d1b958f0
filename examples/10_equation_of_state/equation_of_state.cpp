// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains a surrogate of an equation of state from NPY files, on as many MPI ranks as it is started
// with. Stopped by a time limit or killed, the same command goes on from its last checkpoint.

#include "fluid_table.hpp"

#include <phyllo/comm/mpi.hpp>
#include <phyllo/data/npy_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <iostream>

struct Fluid : phyllo::Network<phyllo::Input<2>, phyllo::Linear<32>, phyllo::SiLU,
                               phyllo::Linear<32>, phyllo::SiLU, phyllo::Linear<2>> {};

using Rows = Kokkos::View<float**, Kokkos::LayoutRight>;
using Trainer = phyllo::Trainer<Fluid, phyllo::MeanSquaredError, phyllo::Adam, phyllo::Full<float>,
                                phyllo::AllReduce<phyllo::Mpi>>;

struct Options {
  std::string folder = "fluid";
  std::uint64_t epochs = 60;
  double stop_after = 0;
  long checkpoint_steps = 200;
};

void train(int rank, int ranks, Options const& options) {
  std::string const in = options.folder + "/", out = options.folder + "/training/";
  if (rank == 0 && !std::filesystem::exists(in + "held_out_properties.npy")) {
    std::filesystem::create_directories(out);
    FluidTable const training(100, 50, 0), held_out(40, 25, 0.5);
    FluidTable::write(in + "states.npy", training.states);
    FluidTable::write(in + "properties.npy", training.properties);
    FluidTable::write(in + "held_out_states.npy", held_out.states);
    FluidTable::write(in + "held_out_properties.npy", held_out.properties);
  }
  MPI_Barrier(MPI_COMM_WORLD);

  Kokkos::DefaultExecutionSpace exec;
  phyllo::Batches<Rows, Rows> batches(
      exec, phyllo::NpySource({in + "states.npy", in + "properties.npy"}),
      {.batch = 250, .seed = 1, .lanes = 20, .prefetch = 4}, rank, ranks);
  phyllo::Batches<Rows, Rows> held_out(
      exec, phyllo::NpySource({in + "held_out_states.npy", in + "held_out_properties.npy"}),
      {.batch = 250, .shuffle = false, .lanes = 20}, rank, ranks);
  phyllo::Adam const adam{
      .rate = 1e-2,
      .schedule = phyllo::cosine_schedule(std::uint64_t(batches.steps()) * options.epochs)};
  Trainer trainer(exec, MPI_COMM_WORLD, adam, {.batch = int(batches.largest_part()), .seed = 1});

  auto const history =
      phyllo::fit(trainer, batches, held_out,
                  {.epochs = options.epochs,
                   .progress = &std::cout,
                   .log = out + "log.csv",
                   .best = out + "best.safetensors",
                   .checkpoint = {.folder = out + "checkpoints", .steps = options.checkpoint_steps},
                   .stop_after = std::chrono::duration<double>(options.stop_after)});
  if (rank != 0) return;
  if (history.end == phyllo::FitEnd::time) std::puts("time is over: start the same command again");
  std::printf("epochs %zu, lowest held-out loss %.17g, weights in %sbest.safetensors\n",
              history.epochs.size(), history.best_loss, out.c_str());
}

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    Options options;
    CLI::App app{"Trains a surrogate of an equation of state from files."};
    app.add_option("--folder", options.folder, "of the table, which is made, and of all results")
        ->capture_default_str();
    app.add_option("--epochs", options.epochs)->capture_default_str();
    app.add_option("--stop-after", options.stop_after, "seconds; 0: no limit");
    app.add_option("--checkpoint-steps", options.checkpoint_steps)->capture_default_str();
    try {
      app.parse(argc, argv);
      train(rank, ranks, options);
    } catch (CLI::ParseError const& error) {
      status = app.exit(error);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "equation_of_state: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
