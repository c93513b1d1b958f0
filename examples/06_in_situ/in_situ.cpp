// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A network learns what a coarse shallow-water solver lacks, from a fine one while that runs.
//
//  1. The fine solver runs, on all ranks. Each step pushes samples into a buffer: coarse cells
//     around a face, and the flux that the coarse solver lacks there. The network trains on it.
//     Killed or stopped, the same command goes on from the last checkpoint with the same bits.
//  2. From another initial state, the fine solver, the coarse one, and the coarse one with the
//     network in its kernel run side by side.

#include "coarse_and_fine.hpp"
#include "rank_state.hpp"
#include "results.hpp"

#include <phyllo/phyllo.hpp>

#include <CLI/CLI.hpp>

#include <mpi.h>

#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>

struct Options {
  std::string folder = "in_situ", fields;
  int cells = 64, ratio = 4;  // coarse cells in each direction; fine cells along one of them
  int training = 600, episode = 200, checkpoint = 100;  // coarse steps
  int updates = 10;                                     // of the network, in each of them
  int steps = 400;                                      // of the comparison
  int batch = 512, capacity = 200000;                   // samples of all ranks
  double at_most = 10;
};

// 1. Training while the fine solver runs.
void learn(Space const& exec, Trainer& trainer, Solver& fine, Solver& coarse,
           Options const& options) {
  Grid const& grid = coarse.grid;
  Buffer buffer(exec,
                {.capacity = options.capacity / grid.ranks,
                 .batch = options.batch / grid.ranks,
                 .seed = 1,
                 .replacement = phyllo::Replacement::reservoir,
                 .rank = grid.rank},
                {39}, {3});
  phyllo::Checkpoints const checkpoints(options.folder + "/checkpoints");
  std::size_t const faces = std::size_t(2 * grid.rows() * grid.cells);
  Samples const inputs("inputs", faces, 39), targets("targets", faces, 3);
  Fluxes const wanted(grid);
  if (grid.rank == 0)
    std::printf("the network has %d parameters; samples and batches take %.1f MB a rank\n",
                ClosureNetwork::parameter_count, 1e-6 * double(buffer.bytes()));
  double loss = 0;
  for (int step = resume(exec, trainer, checkpoints, buffer, fine.state);
       step < options.training;) {
    if (step % options.episode == 0)
      begin(exec, fine.grid, fine.state, std::uint32_t(1 + step / options.episode));
    coarse_step_of_fine(exec, fine, coarse, wanted);
    record(exec, coarse, wanted, step, inputs, targets);
    buffer.push(inputs, targets);
    for (int update = 0; update < options.updates; ++update) {
      auto const& batch = buffer.draw();
      trainer.step(batch.inputs, batch.targets);
    }
    if (++step % options.checkpoint == 0) {
      save(exec, trainer, checkpoints, buffer, fine.state, step);
      loss = trainer.loss();
      if (grid.rank == 0) {
        std::printf("step %5d  mean square error of the scaled flux %.4f\n", step, loss);
        std::fflush(stdout);
      }
    }
  }
}

// 2. The comparison. Returns the error with the network divided by that without.
double compare(Space const& exec, Trainer& trainer, Solver& fine, Solver& coarse,
               Options const& options) {
  Grid const& grid = coarse.grid;
  Solver plain(grid), learned(grid);
  LearnedFlux const correction{trainer.model().in_kernel()};
  begin(exec, fine.grid, fine.state, 1000);
  restrict_state(exec, fine, coarse);
  Kokkos::deep_copy(exec, plain.state, coarse.state);
  Kokkos::deep_copy(exec, learned.state, coarse.state);
  Results results(grid, options.folder + "/errors.csv");
  double ratio = 0;
  for (int step = 0; step <= options.steps; ++step) {
    if (step % ((options.steps + 9) / 10) == 0 || step == options.steps) {
      restrict_state(exec, fine, coarse);
      ratio = results.add(step * grid.time_step(), coarse.state, plain.state, learned.state);
    }
    if (step == options.steps) break;
    for (int k = 0; k < options.ratio; ++k) {
      fine.compute_fluxes(exec);
      fine.finish_step(exec);
    }
    plain.compute_fluxes(exec);
    plain.finish_step(exec);
    learned.compute_fluxes(exec, correction);
    learned.finish_step(exec);
  }
  if (!options.fields.empty())
    results.write(options.fields, {coarse.state, plain.state, learned.state});
  return ratio;
}

int run(Grid grid, Options const& options) {
  if (grid.cells % grid.ranks != 0 || grid.rows() < 2 || options.batch % grid.ranks != 0)
    throw phyllo::Error(
        "in_situ: expected at least two rows of cells, and equally many rows and samples of a "
        "batch "
        "on each rank. Choose other --cells, --batch or another number of ranks.");
  if (grid.rank == 0) std::filesystem::create_directories(options.folder);
  MPI_Barrier(MPI_COMM_WORLD);
  Space exec;
  Solver fine(Grid{grid.cells * options.ratio, grid.rank, grid.ranks}), coarse(grid);
  auto const updates = std::uint64_t(options.training) * std::uint64_t(options.updates);
  Trainer trainer(exec, MPI_COMM_WORLD,
                  {.rate = 3e-3f, .schedule = phyllo::cosine_schedule(updates)},
                  {.batch = options.batch / grid.ranks, .seed = 1});
  learn(exec, trainer, fine, coarse, options);
  if (grid.rank == 0) phyllo::save(exec, trainer.model(), options.folder + "/closure.safetensors");
  double const ratio = compare(exec, trainer, fine, coarse, options);
  if (ratio <= options.at_most) return 0;
  if (grid.rank == 0)
    std::fprintf(stderr, "in_situ: the network leaves %g of the error, expected at most %g.\n",
                 ratio, options.at_most);
  return 1;
}

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    Options o;
    CLI::App app{"A network learns the closure of a shallow-water solver while the solver runs."};
    app.option_defaults()->always_capture_default();
    auto const size = CLI::Range(1, 1 << 20);
    app.add_option("--folder", o.folder, "of checkpoints and results");
    app.add_option("--fields", o.fields, "file for plot_fields.py, written at the end");
    app.add_option("--cells", o.cells, "coarse cells in each direction")->check(size);
    app.add_option("--ratio", o.ratio, "fine cells along a coarse one")->check(size);
    app.add_option("--training", o.training, "coarse steps with training")->check(size);
    app.add_option("--episode", o.episode, "steps from one initial state")->check(size);
    app.add_option("--updates", o.updates, "training steps in each of them")->check(size);
    app.add_option("--checkpoint", o.checkpoint, "steps between checkpoints")->check(size);
    app.add_option("--steps", o.steps, "of the comparison")->check(size);
    app.add_option("--batch", o.batch, "samples of a training step")->check(size);
    app.add_option("--capacity", o.capacity, "samples that are kept")->check(size);
    app.add_option("--at-most", o.at_most, "fail if more of the error is left");
    try {
      app.parse(argc, argv);
      status = run({o.cells, rank, ranks}, o);
    } catch (CLI::ParseError const& error) {
      status = app.exit(error);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "in_situ: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
