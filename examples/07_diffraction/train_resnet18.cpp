// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../networks/resnet.hpp"
#include "train_classifier.hpp"

struct Diffraction18 : networks::ResNet18<1, 120, 85, 27> {};

TrainingResult train_resnet18(TrainingOptions const& options) {
  return train_classifier<Diffraction18>(options);
}
