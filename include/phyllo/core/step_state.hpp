// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// Everything that changes from step to step, in one small block of device memory that kernels read
/// by pointer. So a step can be captured once and replayed: no functor contains any of it.
///
/// numerics the factors of an update are computed in double; kernels convert them once to the type
///          in which they compute
struct StepState {
  std::uint64_t seed = 0;          // key of all random numbers of a training
  std::uint64_t step = 0;          // optimizer steps taken, skipped ones not counted
  std::uint64_t forward = 0;       // training forward passes, the counter of random masks
  std::uint64_t first_sample = 0;  // position of this rank's first sample in the global batch
  float loss_scale = 1;            // factor on the loss's gradient
  float late_scale = 0;            // that of gradients of the step before; 0: the update takes none
  double gradient_factor = 1;  // clipping's factor / (the gradients' scale x samples of all ranks)
  double gradient_norm = 0;    // of the mean gradient over the samples of all ranks, unclipped
  double learning_rate = 0;    // of this step, after the schedule
  double correction[2] = {1, 1};  // of an optimizer's moments, for this step
  int finite = 1;                 // 0 when a reduced gradient is infinite or not a number
  int steps_since_overflow = 0;
  std::uint64_t skipped = 0;        // steps that did not count
  std::uint64_t untold_labels = 0;  // class indices outside of their range since a message
};

}  // namespace phyllo::inline PHYLLO_ISA
