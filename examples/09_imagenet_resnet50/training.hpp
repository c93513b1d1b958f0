// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../loop/with_policy.hpp"
#include "imagenet_options.hpp"

#include <phyllo/data/augmentations.hpp>
#include <phyllo/data/hdf5_source.hpp>
#include <phyllo/fit/fit.hpp>
#include <phyllo/fit/fit_normalisation.hpp>
#include <phyllo/fit/metrics.hpp>

#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <fstream>
#include <utility>

template <class In, class... Parts>
phyllo::Network<In, phyllo::Normalise<>, Parts...> normalised(phyllo::Network<In, Parts...> const&);

/// A network behind a layer that brings each channel of its images to mean 0 and deviation 1.
template <class Net> struct Normalised : decltype(normalised(std::declval<Net>())){};

/// Trains a network of images from HDF5 files; the same call goes on from its last checkpoint.
///
/// numerics images become numbers of mean 0 and deviation 1 per channel inside the network, by
///          constants of the training images; they are moved and reversed at random
template <class Network, class Policy, class Execution>
void train_by(int rank, int ranks, ImagenetOptions const& options) {
  using Trainer = phyllo::Trainer<Network, phyllo::CrossEntropy, phyllo::Sgd, phyllo::Full<float>,
                                  Policy, Execution>;
  using Images = Kokkos::View<float****, Kokkos::LayoutRight>;
  using Labels = Kokkos::View<int*>;
  Kokkos::DefaultExecutionSpace exec;
  phyllo::Hdf5Source const source(options.training, {"images", "labels"});
  phyllo::Batches<Images, Labels> batches(
      exec, source, {.batch = options.batch, .seed = options.seed, .lanes = lanes, .prefetch = 2},
      rank, ranks);
  phyllo::Batches<Images, Labels> held_out(
      exec, phyllo::Hdf5Source(options.held_out, {"images", "labels"}),
      {.batch = options.batch, .shuffle = false, .lanes = lanes}, rank, ranks);
  batches.augment(phyllo::RandomCrop{.padding = int(Network::input.extent(1)) / 16});
  batches.augment(phyllo::RandomFlip{});

  auto const steps = std::uint64_t(batches.steps()) * options.epochs;
  phyllo::Sgd const rule{.rate = options.rate,
                         .momentum = 0.9,
                         .nesterov = true,
                         .weight_decay = options.decay,
                         .schedule = phyllo::cosine_schedule(steps, 0, steps / 10)};
  int const largest = int(std::max(batches.largest_part(), held_out.largest_part()));
  Trainer trainer(exec, MPI_COMM_WORLD, rule, {.batch = largest, .seed = options.seed});
  trainer.set_group(phyllo::ParameterSelection::biases_and_norms(), {.weight_decay = 0});
  phyllo::fit_normalisation(trainer, source);
  if (rank == 0)
    std::printf("%s: %d parameters, %ld images, %ld held out, %d ranks\n", options.network.c_str(),
                Network::parameter_count, batches.samples(), held_out.samples(), ranks);

  std::string const in = options.folder + "/" + options.network;
  auto const history =
      phyllo::fit(trainer, batches, held_out, phyllo::Metrics<phyllo::TopK<5>>{}, options.fit(in));
  auto const values =
      phyllo::measure(trainer, held_out, phyllo::Metrics<phyllo::ConfusionMatrix>{});
  if (rank != 0) return;
  if (history.end == phyllo::FitEnd::time || history.end == phyllo::FitEnd::signal)
    std::puts("stopped: start the same command again");
  std::ofstream table(in + "/confusion.csv");
  auto const& matrix = values.template get<phyllo::ConfusionMatrix>();
  int const classes = int(Network::output.size());
  for (int truth = 0; truth < classes; ++truth)
    for (int predicted = 0; predicted < classes; ++predicted)
      table << matrix[std::size_t(truth * classes + predicted)]
            << (predicted + 1 < classes ? ',' : '\n');
  double best = 0;
  for (auto const& epoch : history.epochs) best = std::max(best, epoch.held_out.accuracy);
  std::printf("best held-out accuracy %.2f %%\nweights, log and confusion matrix in %s\n",
              100 * best, in.c_str());
}

template <class Network> void train(int rank, int ranks, ImagenetOptions const& options) {
  with_policy(options.policy, [&]<class Policy, class Execution>() {
    train_by<Network, Policy, Execution>(rank, ranks, options);
  });
}
