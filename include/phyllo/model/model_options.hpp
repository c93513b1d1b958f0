// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/misspelt.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// What a Model is built with.
struct ModelOptions {
  int batch = 256;  // largest batch; inference splits larger ones, training refuses them
  Misspelt<Option::batch> batch_size = {}, max_batch = {};
  std::uint64_t seed = 0;  // of the initial parameters and of random masks
  Misspelt<Option::seed> random_seed = {};
  // No gradients, no activations of training: forward, backward, trainers and optimizers refuse it.
  bool inference_only = false;
};

}  // namespace phyllo::inline PHYLLO_ISA
