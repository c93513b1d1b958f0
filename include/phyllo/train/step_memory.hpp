// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>
#include <phyllo/backend/thread_memory.hpp>
#include <phyllo/core/allocate.hpp>
#include <phyllo/op/kernel_traits.hpp>
#include <phyllo/op/work_memory.hpp>

#include <cstddef>
#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// Work memory of a whole training step: slices of threads, or values and gradients of all samples.
///
/// options  Kernels: of a whole step; their KernelTraits have thread_bytes or sample_bytes
/// errors   run: no room in the memory space -> Error
template <class Kernels, class Space> class StepMemory {
 public:
  StepMemory() = default;
  StepMemory(Space const& exec, std::string const& model, int rows, long capacity)
      : threads_(exec, model + "/work memory of steps", rows, kernel_traits<Kernels>.thread_bytes) {
    if constexpr (kernel_traits<Kernels>.sample_bytes > 0)
      samples_ = allocate<decltype(samples_)>(
          model + "/whole step workspace",
          bytes_of((capacity + 63) / 64 * 64, kernel_traits<Kernels>.sample_bytes),
          "Build the model with a smaller ModelOptions::batch.", exec);
  }

  op::WorkMemory memory() const {
    op::WorkMemory memory = threads_.memory();
    if constexpr (kernel_traits<Kernels>.sample_bytes > 0) memory.first = samples_.data();
    return memory;
  }

 private:
  ThreadMemory<Space> threads_;
  Kokkos::View<std::byte*, Kokkos::LayoutRight, typename Space::memory_space> samples_;
};

}  // namespace phyllo::inline PHYLLO_ISA
