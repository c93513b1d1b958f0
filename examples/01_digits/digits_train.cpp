// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains DigitsNetwork on handwritten digits, on as many MPI ranks as it is started with.

#include "digits_data.hpp"
#include "digits_network.hpp"
#include "digits_options.hpp"

#include <phyllo/comm/mpi.hpp>
#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/fit.hpp>

#include <mpi.h>

#include <cstdio>
#include <iostream>

void train(int rank, int ranks, DigitsOptions const& options) {
  using Trainer = phyllo::Trainer<DigitsNetwork, phyllo::CrossEntropy, phyllo::Sgd,
                                  phyllo::Full<float>, phyllo::AllReduce<phyllo::Mpi>>;
  using Batches = phyllo::Batches<DigitsData::Images, DigitsData::Labels>;
  DigitsData const digits = DigitsData::read(options.data, DigitsData::Part::training);
  DigitsData const others = DigitsData::read(options.data, DigitsData::Part::held_out);

  Kokkos::DefaultExecutionSpace exec;
  Batches batches(exec, phyllo::ViewSource(digits.images, digits.labels),
                  {.batch = options.batch, .seed = options.seed}, rank, ranks);
  Batches held_out(exec, phyllo::ViewSource(others.images, others.labels),
                   {.batch = options.batch, .shuffle = false}, rank, ranks);
  auto const steps = std::uint64_t(batches.steps()) * options.epochs;
  phyllo::Sgd const sgd{.rate = options.rate,
                        .momentum = 0.9f,
                        .weight_decay = 1e-4f,
                        .schedule = phyllo::cosine_schedule(steps)};
  Trainer trainer(exec, MPI_COMM_WORLD, sgd,
                  {.batch = int(batches.largest_part()), .seed = options.seed});
  if (rank == 0) std::puts(phyllo::explain<DigitsNetwork>());

  auto const history =
      phyllo::fit(trainer, batches, held_out,
                  {.epochs = options.epochs, .progress = &std::cout, .log = options.log});
  if (rank != 0) return;
  phyllo::save(exec, trainer.model(), options.weights);
  std::printf("held-out accuracy %.17g\nweights in %s, log in %s\n",
              history.epochs.back().held_out.accuracy, options.weights.c_str(),
              options.log.c_str());
}

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    try {
      DigitsOptions options;
      if (options.parse(argc, argv, status)) train(rank, ranks, options);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "digits_train: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
