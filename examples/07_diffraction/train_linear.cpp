// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "train_classifier.hpp"

/// One weight for each pixel and class: what a network has to beat.
struct Linear27 : phyllo::Network<phyllo::Input<1, 120, 85>, phyllo::Flatten, phyllo::Linear<27>> {
};

TrainingResult train_linear(TrainingOptions const& options) {
  return train_classifier<Linear27>(options);
}
