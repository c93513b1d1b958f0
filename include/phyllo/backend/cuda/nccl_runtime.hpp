// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#if defined(__CUDACC__)
#include <nccl.h>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// Streams and events for NcclSums, and NVIDIA's library itself.
struct NcclRuntime {
  static constexpr char const* name = "Nccl";
  using space = Kokkos::Cuda;
  using Stream = cudaStream_t;
  using Event = cudaEvent_t;

  static Stream stream(space const& exec) { return exec.cuda_stream(); }
  static void create(Event& event) {
    KOKKOS_IMPL_CUDA_SAFE_CALL(cudaEventCreateWithFlags(&event, cudaEventDisableTiming));
  }
  static void record(Event event, Stream stream) {
    KOKKOS_IMPL_CUDA_SAFE_CALL(cudaEventRecord(event, stream));
  }
  static void await(Stream stream, Event event) {
    KOKKOS_IMPL_CUDA_SAFE_CALL(cudaStreamWaitEvent(stream, event, 0));
  }
  static void destroy(Event event) { static_cast<void>(cudaEventDestroy(event)); }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda

namespace phyllo::inline PHYLLO_ISA {

template <class Runtime> class NcclSums;  // comm/nccl/nccl_sums.hpp

/// Sums over NVIDIA's devices.
using Nccl = NcclSums<cuda::NcclRuntime>;

}  // namespace phyllo::inline PHYLLO_ISA
#endif
