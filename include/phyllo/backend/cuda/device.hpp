// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma_float.hpp>
#include <phyllo/backend/cuda/runtime.hpp>
#include <phyllo/backend/cuda/wgmma_weights.hpp>
#include <phyllo/backend/gpu/launch/launcher.hpp>

#if defined(__CUDACC__)

namespace phyllo::inline PHYLLO_ISA::cuda {

/// NVIDIA devices: how kernels are launched, and the matrix instructions that they use.
struct Device : gpu::Launcher<Runtime> {
  template <class Storage> using MmaAtom = Mma<Storage>;
#if defined(PHYLLO_ENABLE_WGMMA)
  /// Of an H100: 600 TFLOP/s by mma.sync over 3 TB/s. Not measured.
  static constexpr long compute_bound_intensity = 200;
  template <class Storage>
    requires(sizeof(Storage) == 2)
  using ComputeBoundUnit = Wgmma<Storage>;
#endif
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda

#endif
