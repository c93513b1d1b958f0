// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/misspelt.hpp>
#include <phyllo/train/clipping.hpp>
#include <phyllo/train/loss_scaling.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// How the gradient is processed before the update rule reads it.
struct OptimizerOptions {
  LossScaling scaling = {};
  Misspelt<Option::scaling> loss_scaling = {}, loss_scale = {};
  Clipping clipping = {};
  Misspelt<Option::clipping> clip = {}, max_norm = {}, largest_norm = {};
};

}  // namespace phyllo::inline PHYLLO_ISA
