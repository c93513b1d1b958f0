// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// The threads of a block, as the kernels of this folder see them: loops over the threads or warps
/// that are here, from first_thread() or first_warp() on, between them barriers. On a device each
/// thread runs the loops once, for itself, and the compiler knows; on a host one caller stands for
/// all of them, which is how tests execute the kernels without a GPU.
///
/// options  Warps: in a block · Lanes: of a warp
template <int Warps, int Lanes> struct Team {
  std::byte* scratch;
#if PHYLLO_ON_DEVICE
  static constexpr int warps_here = 1;
  static constexpr int threads_here = 1;

  PHYLLO_INLINE static int block() { return int(blockIdx.x); }
  PHYLLO_INLINE static int blocks() { return int(gridDim.x); }
  PHYLLO_INLINE static int first_thread() { return int(threadIdx.x); }
  PHYLLO_INLINE static int first_warp() { return int(threadIdx.x) / Lanes; }
  PHYLLO_INLINE static int first_lane() { return int(threadIdx.x) % Lanes; }
  PHYLLO_INLINE static void barrier() { __syncthreads(); }
#else
  static constexpr int warps_here = Warps;
  static constexpr int threads_here = Warps * Lanes;
  int of_block = 0;
  int of_blocks = 1;

  int block() const { return of_block; }
  int blocks() const { return of_blocks; }
  static int first_thread() { return 0; }
  static int first_warp() { return 0; }
  static int first_lane() { return 0; }
  static void barrier() {}
#endif
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
