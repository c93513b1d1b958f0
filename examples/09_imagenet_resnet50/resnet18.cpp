// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../networks/resnet.hpp"
#include "training.hpp"

void train_resnet18(int rank, int ranks, ImagenetOptions const& options) {
  train<Normalised<networks::ResNet18<3, 64, 64, 10>>>(rank, ranks, options);
}
