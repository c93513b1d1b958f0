// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains DigitsNetwork on handwritten digits, on as many MPI ranks as it is started with.

#include "digits_data.hpp"
#include "digits_network.hpp"
#include "digits_options.hpp"
#include "progress.hpp"

#include <phyllo/comm/mpi.hpp>

#include <mpi.h>

#include <unistd.h>

#include <cstdio>
#include <fstream>

void train(MPI_Comm communicator, DigitsOptions const& options) {
  using Trainer = phyllo::Trainer<DigitsNetwork, phyllo::CrossEntropy, phyllo::Sgd,
                                  phyllo::Full<float>, phyllo::AllReduce<phyllo::Mpi>>;
  int rank = 0, ranks = 1;
  MPI_Comm_rank(communicator, &rank);
  MPI_Comm_size(communicator, &ranks);

  DigitsData const training = DigitsData::read(options.data, DigitsData::Part::training);
  DigitsData const held_out = DigitsData::read(options.data, DigitsData::Part::held_out);
  phyllo::Sampler sampler(training.size(), options.batch, rank, ranks, options.seed);

  Kokkos::DefaultExecutionSpace exec;
  phyllo::Sgd const sgd{.rate = options.rate,
                        .momentum = 0.9f,
                        .weight_decay = 1e-4f,
                        .schedule = phyllo::cosine_schedule(std::uint64_t(sampler.steps()) *
                                                            std::uint64_t(options.epochs))};
  Trainer trainer(exec, communicator, sgd,
                  {.batch = int(sampler.largest_part()), .seed = options.seed});
  if (rank == 0) {
    std::puts(phyllo::explain<DigitsNetwork>());
    std::printf("training on %ld digits, %ld held out, %d ranks, backend %s, communication %s\n",
                training.size(), held_out.size(), ranks, Kokkos::DefaultExecutionSpace::name(),
                phyllo::AllReduce<phyllo::Mpi>::name);
  }

  auto const largest = std::size_t(sampler.largest_part());
  DigitsData::Images images("batch images", largest, 1, 8, 8);
  DigitsData::Labels labels("batch labels", largest);
  Kokkos::View<long*> indices("batch indices", largest);
  // Each rank evaluates its share of the held-out digits; the trainer adds them up.
  std::pair<long, long> const share{held_out.size() * rank / ranks,
                                    held_out.size() * (rank + 1) / ranks};
  auto const held_out_images =
      Kokkos::subview(held_out.images, share, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL);
  auto const held_out_labels = Kokkos::subview(held_out.labels, share);

  std::ofstream history;
  if (rank == 0) {
    history.open(options.history);
    history << "epoch,training_loss,held_out_loss,held_out_accuracy\n";
  }
  bool const terminal = options.progress == "auto" && isatty(STDOUT_FILENO) == 1;
  Progress progress(options.epochs, terminal || options.progress == "bar");
  phyllo::Evaluation evaluation;
  for (int epoch = 0; epoch < options.epochs; ++epoch) {
    Kokkos::Timer timer;
    sampler.start_epoch(std::uint64_t(epoch));
    double loss = 0;
    for (long step = 0; step < sampler.steps(); ++step) {
      auto const part = sampler.part(step);
      auto const host = Kokkos::create_mirror_view(indices);
      for (std::size_t i = 0; i < part.size(); ++i) host(i) = part[i];
      Kokkos::deep_copy(exec, indices, host);
      Kokkos::parallel_for("gather batch", Kokkos::RangePolicy(exec, 0, int(part.size())),
                           GatherBatch{training.images, images, training.labels, labels, indices});
      std::pair<std::size_t, std::size_t> const rows{0, part.size()};
      trainer.step(Kokkos::subview(images, rows, Kokkos::ALL, Kokkos::ALL, Kokkos::ALL),
                   Kokkos::subview(labels, rows));
      loss += trainer.loss() / double(sampler.steps());
      if (rank == 0) progress.within(epoch, double(step + 1) / double(sampler.steps()));
    }
    double const seconds = timer.seconds();
    evaluation = trainer.evaluate(held_out_images, held_out_labels);
    if (rank != 0) continue;
    progress.epoch(epoch, loss, evaluation.accuracy, double(training.size()) / seconds);
    history << epoch + 1 << ',' << loss << ',' << evaluation.loss << ',' << evaluation.accuracy
            << '\n';
  }
  trainer.synchronize();
  if (rank == 0) {
    phyllo::save(exec, trainer.model(), options.weights);
    std::printf("held-out accuracy %.17g\nweights in %s, history in %s\n", evaluation.accuracy,
                options.weights.c_str(), options.history.c_str());
  }
}

int main(int argc, char* argv[]) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  int status = 0;
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    try {
      DigitsOptions options;
      if (options.parse(argc, argv, status)) train(MPI_COMM_WORLD, options);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "digits_train: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
