// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../networks/resnet.hpp"
#include "training.hpp"

void train_resnet50(int rank, int ranks, ImagenetOptions const& options) {
  train<Normalised<networks::ResNet50<3, 224, 224, 1000>>>(rank, ranks, options);
}
