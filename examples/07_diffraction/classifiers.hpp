// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../loop/loop_options.hpp"

#include <string>

/// What a training is told on the command line.
struct TrainingOptions : LoopOptions {
  std::string folder;   // of the patterns
  std::string results;  // of log, weights, checkpoints and confusion matrix
  int rank = 0, ranks = 1;
};

/// What a training has reached.
struct TrainingResult {
  double accuracy = 0;  // of held-out patterns, with the weights of the lowest held-out loss
  bool is_complete = false;
};

// Each network is compiled in a file of its own.
TrainingResult train_linear(TrainingOptions const& options);
TrainingResult train_small(TrainingOptions const& options);
TrainingResult train_resnet18(TrainingOptions const& options);
TrainingResult train_resnet50(TrainingOptions const& options);
