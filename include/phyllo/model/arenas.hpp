// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/step_state.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA {

/// The memory of a model as kernels see it: pointers only.
///
/// shape    parameters, gradients (arena_size) · buffers (buffer_size) · statistics (7/2 of
///          buffer_size) · activations (Memory::bytes times capacity) · work memory (slices of the
///          kernel that uses most)
template <class Precision> struct Arenas {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;

  storage* parameters = nullptr;
  accumulate* gradients = nullptr;
  float* buffers = nullptr;
  accumulate* statistics = nullptr;  // of batch normalisations, from forward to backward
  accumulate* partial = nullptr;     // workspace of sums over blocks
  std::byte* activations = nullptr;
  StepState* state = nullptr;
  int capacity = 0;       // samples that the activation arena holds
  op::WorkMemory memory;  // of kernels

  storage* at(long offset) const {
    return reinterpret_cast<storage*>(activations + offset * capacity);
  }
};

/// The statistics of one batch normalisation in its arena.
template <class Accumulate> struct NormalizationStatistics {
  Accumulate* mean = nullptr;               // (C)
  Accumulate* inverse_deviation = nullptr;  // (C)
  Accumulate* mean_sums = nullptr;          // (C + 1)
  Accumulate* square_sums = nullptr;        // (C)
  Accumulate* gradient_sums = nullptr;      // (2 C)

  // A normalisation of C channels has 2 C buffers and 7 C statistics, the 6 C + 1 above among them.
  NormalizationStatistics(Accumulate* arena, int buffer, int channels) {
    mean = arena + buffer / 2 * 7;
    inverse_deviation = mean + channels;
    square_sums = inverse_deviation + channels;
    gradient_sums = square_sums + channels;
    mean_sums = gradient_sums + 2 * channels;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
