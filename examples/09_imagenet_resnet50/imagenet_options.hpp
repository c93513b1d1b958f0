// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../loop/loop_options.hpp"

#include <string>

/// What imagenet is told on its command line.
struct ImagenetOptions : LoopOptions {
  std::string network = "resnet18";
  std::string folder = "imagenet";
  std::string training, held_out;  // HDF5 files; empty: synthetic images in the folder
  long images = 2000;              // synthetic ones, a tenth of them held out
  double decay = 1e-4;

  ImagenetOptions() {
    epochs = 12;
    rate = 0.01;
  }
};

/// ResNet-18 for images 3x64x64 of ten classes, and ResNet-50 for 3x224x224 of a thousand. Each is
/// in a file of its own, so that both compile at the same time.
void train_resnet18(int rank, int ranks, ImagenetOptions const& options);
void train_resnet50(int rank, int ranks, ImagenetOptions const& options);
