// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "../networks/resnet.hpp"
#include "train_classifier.hpp"

struct Diffraction50 : networks::ResNet50<1, 120, 85, 27> {};

TrainingResult train_resnet50(TrainingOptions const& options) {
  return train_classifier<Diffraction50>(options);
}
