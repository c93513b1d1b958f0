// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../loop/with_policy.hpp"
#include "classifiers.hpp"

#include <phyllo/data/augmentations.hpp>
#include <phyllo/data/batches.hpp>
#include <phyllo/data/npy_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/fit/measure.hpp>

#include <mpi.h>

#include <cstdio>
#include <filesystem>
#include <fstream>

/// Mirrors half of the patterns around the row of the direct beam: a mirrored lattice is the same
/// lattice. One work item is one pattern.
struct MirrorRows {
  Kokkos::View<float****, Kokkos::LayoutRight> images;  // (N, 1, rows, columns)
  phyllo::AugmentationDraw draw;
  KOKKOS_FUNCTION void operator()(int n) const {
    if (draw.uniform(n) < 0.5f) return;
    int const rows = images.extent_int(2), columns = images.extent_int(3);
    for (int i = 1; 2 * i < rows; ++i)
      for (int j = 0; j < columns; ++j)
        Kokkos::kokkos_swap(images(n, 0, i, j), images(n, 0, rows - i, j));
  }
};

/// Mirrors half of the patterns, each in both directions at random.
struct MirrorPatterns {
  template <class Batch>
  void operator()(Kokkos::DefaultExecutionSpace const& exec, Batch const& batch,
                  phyllo::AugmentationDraw const& draw) const {
    Kokkos::parallel_for("mirror rows", Kokkos::RangePolicy(exec, 0, int(batch.samples)),
                         MirrorRows{batch.inputs, draw});
  }
};

/// Trains a network on the patterns of a folder, or goes on, and counts which classes it mistakes.
template <class Network, class Policy, class Execution>
TrainingResult train_by(TrainingOptions const& options) {
  using Images = Kokkos::View<float****, Kokkos::LayoutRight>;
  using Labels = Kokkos::View<int*>;
  using Trainer = phyllo::Trainer<Network, phyllo::CrossEntropy, phyllo::AdamW, phyllo::Full<float>,
                                  Policy, Execution>;
  Kokkos::DefaultExecutionSpace const exec;
  std::string const in = options.folder + "/", out = options.results + "/";
  if (options.rank == 0) std::filesystem::create_directories(out);
  MPI_Barrier(MPI_COMM_WORLD);

  phyllo::Batches<Images, Labels> batches(
      exec, phyllo::NpySource({in + "patterns.npy", in + "classes.npy"}),
      {.batch = options.batch,
       .seed = options.seed,
       .lanes = lanes,
       .prefetch = 2,
       .last_batch = phyllo::LastBatch::left_out},
      options.rank, options.ranks);
  batches.augment(phyllo::RandomFlip{.probability = 0.5f});
  batches.augment(MirrorPatterns{});
  phyllo::Batches<Images, Labels> held_out(
      exec, phyllo::NpySource({in + "held_out_patterns.npy", in + "held_out_classes.npy"}),
      {.batch = options.batch, .shuffle = false, .lanes = lanes}, options.rank, options.ranks);
  auto const steps = std::uint64_t(batches.steps()) * options.epochs;
  phyllo::AdamW const rule{.rate = options.rate,
                           .weight_decay = 0.05,
                           .schedule = phyllo::cosine_schedule(steps, 0, steps / 10)};
  int const largest = int(std::max(batches.largest_part(), held_out.largest_part()));
  Trainer trainer(exec, MPI_COMM_WORLD, rule, {.batch = largest, .seed = options.seed});

  phyllo::FitOptions const fit = options.fit(options.results);
  phyllo::FitHistory const history = phyllo::fit(trainer, batches, held_out, fit);
  if (history.end == phyllo::FitEnd::time || history.end == phyllo::FitEnd::signal) return {};

  phyllo::load(exec, trainer.model(), fit.best);
  auto const values = phyllo::measure(trainer, held_out,
                                      phyllo::Metrics<phyllo::TopK<>, phyllo::ConfusionMatrix>{});
  if (options.rank == 0) {
    auto const& counts = values.template get<phyllo::ConfusionMatrix>();
    std::size_t const classes = std::size_t(Network::output.channels);
    std::ofstream table(out + "confusion.csv");
    for (std::size_t n = 0; n < counts.size(); ++n)
      table << counts[n] << ((n + 1) % classes == 0 ? '\n' : ',');
  }
  return {values.template get<phyllo::TopK<>>(), true};
}

template <class Network> TrainingResult train_classifier(TrainingOptions const& options) {
  return with_policy(options.policy, [&]<class Policy, class Execution>() {
    return train_by<Network, Policy, Execution>(options);
  });
}
