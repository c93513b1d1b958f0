// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Core.hpp>

#if defined(__HIPCC__)
#include <rccl/rccl.h>

namespace phyllo::inline PHYLLO_ISA::hip {

/// Streams and events for NcclSums, and AMD's library, whose functions have the names of NVIDIA's.
struct RcclRuntime {
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

}  // namespace phyllo::inline PHYLLO_ISA::hip

namespace phyllo::inline PHYLLO_ISA {

template <class Runtime> class NcclSums;  // comm/nccl/nccl_sums.hpp

/// Sums over AMD's devices.
using Rccl = NcclSums<hip::RcclRuntime>;

}  // namespace phyllo::inline PHYLLO_ISA
#endif
