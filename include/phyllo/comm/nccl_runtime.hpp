// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <Kokkos_Core.hpp>

#if defined(__CUDACC__)
#include <nccl.h>

namespace phyllo {

/// Streams and events of the vendor whose library sums over devices. The library's own functions
/// have the same names with both vendors.
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

}  // namespace phyllo
#define PHYLLO_HAS_NCCL
#elif defined(__HIPCC__)
#include <rccl/rccl.h>

namespace phyllo {

struct NcclRuntime {
  static constexpr char const* name = "Rccl";
  using space = Kokkos::HIP;
  using Stream = hipStream_t;
  using Event = hipEvent_t;

  static Stream stream(space const& exec) { return exec.hip_stream(); }
  static void create(Event& event) {
    KOKKOS_IMPL_HIP_SAFE_CALL(hipEventCreateWithFlags(&event, hipEventDisableTiming));
  }
  static void record(Event event, Stream stream) {
    KOKKOS_IMPL_HIP_SAFE_CALL(hipEventRecord(event, stream));
  }
  static void await(Stream stream, Event event) {
    KOKKOS_IMPL_HIP_SAFE_CALL(hipStreamWaitEvent(stream, event, 0));
  }
  static void destroy(Event event) { static_cast<void>(hipEventDestroy(event)); }
};

}  // namespace phyllo
#define PHYLLO_HAS_NCCL
#endif
