// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Simulates a small protein that folds and unfolds, and trains a convolutional variational
// autoencoder on its contact maps. Without labels, three latent numbers separate folded states from
// unfolded ones.

#include "../loop/loop_options.hpp"
#include "../loop/with_policy.hpp"
#include "../networks/contact_map_autoencoder.hpp"
#include "simulation.hpp"

#include <phyllo/data/view_source.hpp>
#include <phyllo/fit/fit.hpp>

#include <CLI/CLI.hpp>

#include <cstdio>
#include <filesystem>
#include <fstream>

struct PaperNetwork : networks::ContactMapAutoencoder<128, 128, 3> {};
struct SmallNetwork : networks::ContactMapAutoencoder<8, 32, 3> {};

using Maps = Kokkos::View<float****, Kokkos::LayoutRight, Space>;

struct Options : LoopOptions {
  std::string folder = "folding", network = "paper";
  int chains = 64, frames = 50, steps = 2000;
};

/// Samples [begin, end) of a View.
template <class View> View rows(View const& all, std::size_t begin, std::size_t end) {
  View part("part", end - begin, 1, beads, beads);
  Kokkos::deep_copy(
      part, Kokkos::subview(all, std::pair(begin, end), Kokkos::ALL, Kokkos::ALL, Kokkos::ALL));
  return part;
}

/// Binary cross-entropy of the mean of the training maps, the best guess without a network.
double error_of_mean_map(Maps const& training, Maps const& held_out) {
  auto const a = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), training);
  auto const b = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), held_out);
  double sum = 0;
  for (int i = 0; i < beads; ++i)
    for (int j = 0; j < beads; ++j) {
      double mean = 0;
      for (std::size_t n = 0; n < a.extent(0); ++n) mean += a(n, 0, i, j) / double(a.extent(0));
      mean = std::clamp(mean, 1e-6, 1 - 1e-6);
      for (std::size_t n = 0; n < b.extent(0); ++n)
        sum -= b(n, 0, i, j) > 0.5f ? std::log(mean) : std::log(1 - mean);
    }
  return sum / (beads * beads) / double(b.extent(0));
}

/// Latent numbers of all maps beside the fraction of native contacts, as a table; and the error of
/// the reconstruction of the held-out ones, those from `first` on.
template <class Model>
double write_latent_space(Space const& exec, Model const& model, Trajectory const& trajectory,
                          std::size_t first, int batch, std::string const& file) {
  auto const fraction =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), trajectory.native_fraction);
  std::ofstream table(file);
  table << "native_fraction,z1,z2,z3\n";
  double error = 0;
  std::size_t const samples = fraction.extent(0), most = std::size_t(batch);
  for (std::size_t begin = 0; begin < samples;) {
    std::size_t const limit = begin < first ? first : samples, end = std::min(begin + most, limit);
    Maps const x = rows(trajectory.maps, begin, end), y("y", end - begin, 1, beads, beads);
    Kokkos::View<float**, Space> const z("z", end - begin, 6);
    model.infer(exec, x,
                phyllo::tensors(phyllo::named<networks::latent>(z),
                                phyllo::named<networks::reconstruction>(y)));
    exec.fence("latent space");
    auto const z_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), z);
    auto const y_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), y);
    auto const x_host = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), x);
    for (std::size_t n = 0; n < end - begin; ++n)
      table << fraction(begin + n) << ',' << z_host(n, 0) << ',' << z_host(n, 1) << ','
            << z_host(n, 2) << '\n';
    if (begin >= first)
      for (std::size_t i = 0; i < y_host.size(); ++i) {
        double const logit = y_host.data()[i], wanted = x_host.data()[i];
        error += std::log1p(std::exp(-std::fabs(logit))) + std::fmax(logit, 0) - wanted * logit;
      }
    begin = end;
  }
  return error / (beads * beads) / double(samples - first);
}

template <class Network, class Policy, class Execution>
void run_by(int rank, int ranks, Options const& options) {
  using Trainer = phyllo::Trainer<Network, networks::ContactMapLoss, phyllo::Adam,
                                  phyllo::Full<float>, Policy, Execution>;
  Space const exec;
  if (rank == 0) std::filesystem::create_directories(options.folder);
  Trajectory const all =
      simulate(exec, options.chains, options.frames, options.steps, options.seed, rank, ranks);
  // The last tenth of the time is held out.
  std::size_t const samples = all.maps.extent(0);
  std::size_t const training_samples =
      std::size_t(options.frames - (options.frames + 9) / 10) * std::size_t(options.chains);
  Maps const training = rows(all.maps, 0, training_samples);
  Maps const held_out_maps = rows(all.maps, training_samples, samples);
  if (rank == 0)
    std::printf("%zu contact maps of %d chains, %zu of them held out\n", samples, options.chains,
                samples - training_samples);

  phyllo::Batches<Maps, Maps> batches(
      exec, phyllo::ViewSource(training, training),
      {.batch = options.batch, .seed = options.seed, .lanes = lanes}, rank, ranks);
  phyllo::Batches<Maps, Maps> held_out(exec, phyllo::ViewSource(held_out_maps, held_out_maps),
                                       {.batch = options.batch, .shuffle = false, .lanes = lanes},
                                       rank, ranks);
  int const largest = int(std::max(batches.largest_part(), held_out.largest_part()));
  phyllo::Adam const adam{
      .rate = options.rate,
      .schedule = phyllo::cosine_schedule(std::uint64_t(batches.steps()) * options.epochs)};
  Trainer trainer(exec, MPI_COMM_WORLD, adam, {.batch = largest, .seed = options.seed});
  std::string const in = options.folder + "/";
  phyllo::fit(trainer, batches, held_out, options.fit(options.folder));
  if (rank != 0) return;
  double const error =
      write_latent_space(exec, trainer.model(), all, training_samples, largest, in + "latent.csv");
  double const of_mean = error_of_mean_map(training, held_out_maps);
  std::printf(
      "reconstruction of held-out maps: cross-entropy %.4f a pixel, %.2f of the mean map's "
      "%.4f\nlatent numbers in %slatent.csv\n",
      error, error / of_mean, of_mean, in.c_str());
}

template <class Network> void run(int rank, int ranks, Options const& options) {
  with_policy(options.policy, [&]<class Policy, class Execution>() {
    run_by<Network, Policy, Execution>(rank, ranks, options);
  });
}

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    Options options;
    CLI::App app{"Trains a variational autoencoder on contact maps of a folding protein."};
    app.add_option("--folder", options.folder, "of all results")->capture_default_str();
    app.add_option("--network", options.network, "paper: 26 million parameters; or small")
        ->check(CLI::IsMember({"paper", "small"}))
        ->capture_default_str();
    app.add_option("--chains", options.chains)->capture_default_str();
    app.add_option("--frames", options.frames, "contact maps of each chain")->capture_default_str();
    app.add_option("--steps", options.steps, "of time between two maps")->capture_default_str();
    options.batch = 32;
    options.epochs = 4;
    options.add_to(app);
    try {
      app.parse(argc, argv);
      if (options.network == "paper")
        run<PaperNetwork>(rank, ranks, options);
      else
        run<SmallNetwork>(rank, ranks, options);
    } catch (CLI::ParseError const& error) {
      status = app.exit(error);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "protein_folding: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
