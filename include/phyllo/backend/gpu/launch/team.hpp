// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// The threads of a block, as the kernels of this folder see them: loops over the threads or warps
/// that one call computes, from first_thread() or first_warp() on, between them barriers. On a
/// device each thread runs the loops once, for itself, and the compiler knows. Kernels take the
/// type as an argument, so tests execute them on a host by a team whose one caller computes all
/// threads.
///
/// options  Warps: in a block · Lanes: of a warp
template <int Warps, int Lanes> struct Team {
  static constexpr int warps_here = 1;
  static constexpr int threads_here = 1;

  std::byte* scratch;

#if PHYLLO_ON_DEVICE
  PHYLLO_INLINE static int block() { return int(blockIdx.x); }
  PHYLLO_INLINE static int blocks() { return int(gridDim.x); }
  PHYLLO_INLINE static int first_thread() { return int(threadIdx.x); }
  PHYLLO_INLINE static int first_warp() { return int(threadIdx.x) / Lanes; }
  PHYLLO_INLINE static int first_lane() { return int(threadIdx.x) % Lanes; }
  PHYLLO_INLINE static void barrier() { __syncthreads(); }
#else
  // The pass of a GPU's compiler for the host needs these names and calls none of them.
  static int block();
  static int blocks();
  static int first_thread();
  static int first_warp();
  static int first_lane();
  static void barrier();
#endif
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
