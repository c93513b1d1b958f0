// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/select.hpp>

#if defined(PHYLLO_HAS_HOST_BACKEND)
#include "processor_ceilings.hpp"
#else
#include "device_ceilings.hpp"
#endif

namespace perf {

#if defined(PHYLLO_HAS_HOST_BACKEND)
inline constexpr bool on_device = false;
using Ceilings = ProcessorCeilings;
#else
inline constexpr bool on_device = true;
using Ceilings = DeviceCeilings;
#endif

/// Of a workload's two batches the one for this machine.
constexpr long batch_of(long on_processors, long on_devices) {
  return on_device ? on_devices : on_processors;
}

}  // namespace perf
