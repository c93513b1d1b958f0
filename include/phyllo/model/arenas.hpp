// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/sparse_rows.hpp>
#include <phyllo/core/step_state.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA {

/// The memory of a model as kernels see it: pointers only.
///
/// shape    parameters, gradients (arena_size) · buffers (buffer_size) · batch_state
///          (batch_state_size) · activations (Memory::bytes times capacity) · work memory (slices
///          of the kernel that uses most)
template <class Precision> struct Arenas {
  using storage = typename Precision::storage;
  using accumulate = typename Precision::accumulate;

  storage* parameters = nullptr;
  accumulate* gradients = nullptr;
  float* buffers = nullptr;
  accumulate* batch_state = nullptr;  // sums over a batch, from forward to backward
  accumulate* partial = nullptr;      // workspace of sums over blocks
  long partial_count = 0;
  std::byte* activations = nullptr;
  StepState* state = nullptr;
  int capacity = 0;              // samples that the activation arena holds
  op::WorkMemory memory;         // of kernels
  std::byte* samples = nullptr;  // the same, of kernels that want it for each sample
  SparseRows<accumulate> const* matrices = nullptr;  // BoundMatrices::rows

  storage* at(long offset) const { return at_as<storage>(offset); }
  template <class T> T* at_as(long offset) const {
    return reinterpret_cast<T*>(activations + offset * capacity);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
