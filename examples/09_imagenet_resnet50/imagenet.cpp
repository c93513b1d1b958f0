// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Trains a residual network on images in HDF5 files, on as many MPI ranks as it is started with. By
// default it draws 2,000 images itself. Stopped or killed, the same command goes on.

#include "image_file.hpp"
#include "imagenet_options.hpp"

#include <Kokkos_Core.hpp>

#include <CLI/CLI.hpp>

#include <mpi.h>

#include <cstdio>
#include <filesystem>

namespace {

// The files of the user, or synthetic ones that rank 0 makes.
void prepare(int rank, ImagenetOptions& options) {
  if (!options.training.empty()) return;
  options.training = options.folder + "/training.h5";
  options.held_out = options.folder + "/held_out.h5";
  int const extent = options.network == "resnet50" ? 224 : 64;
  if (rank == 0 && !std::filesystem::exists(options.held_out)) {
    long const held_out = std::max(10L, options.images / 10);
    image_file::write_synthetic(options.training, options.images - held_out, extent, 1);
    image_file::write_synthetic(options.held_out, held_out, extent, 2);
  }
}

}  // namespace

int main(int argc, char* argv[]) {
  int provided = 0, rank = 0, ranks = 1, status = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  {
    Kokkos::ScopeGuard kokkos(argc, argv);
    ImagenetOptions options;
    CLI::App app{"Trains a residual network on images."};
    app.add_option("--network", options.network,
                   "resnet18: 3x64x64, 10 classes; resnet50: 3x224x224, 1000 classes")
        ->check(CLI::IsMember({"resnet18", "resnet50"}))
        ->capture_default_str();
    app.add_option("--folder", options.folder, "of all results")->capture_default_str();
    auto* const training =
        app.add_option("--training", options.training, "HDF5 file of images_to_hdf5.py");
    auto* const held_out = app.add_option("--held-out", options.held_out, "likewise");
    training->needs(held_out);
    held_out->needs(training);
    app.add_option("--images", options.images, "to draw where no file is given")
        ->check(CLI::Range(100L, 1L << 24))
        ->capture_default_str();
    app.add_option("--decay", options.decay, "of weights")->capture_default_str();
    options.add_to(app);
    try {
      app.parse(argc, argv);
      if (rank == 0) std::filesystem::create_directories(options.folder + "/" + options.network);
      prepare(rank, options);
      MPI_Barrier(MPI_COMM_WORLD);
      if (options.network == "resnet50")
        train_resnet50(rank, ranks, options);
      else
        train_resnet18(rank, ranks, options);
    } catch (CLI::ParseError const& error) {
      status = app.exit(error);
    } catch (std::exception const& error) {
      std::fprintf(stderr, "imagenet: %s\n", error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
  MPI_Finalize();
  return status;
}
