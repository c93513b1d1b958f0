// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
#include "device_ceilings.hpp"
#else
#include "processor_ceilings.hpp"
#endif

namespace perf {

#if defined(KOKKOS_ENABLE_CUDA) || defined(KOKKOS_ENABLE_HIP)
inline constexpr bool on_device = true;
using Ceilings = DeviceCeilings;
#else
inline constexpr bool on_device = false;
using Ceilings = ProcessorCeilings;
#endif

/// Of a workload's two batches the one for this machine.
constexpr long batch_of(long on_processors, long on_devices) {
  return on_device ? on_devices : on_processors;
}

}  // namespace perf
