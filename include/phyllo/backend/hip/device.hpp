// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/launch/launcher.hpp>
#include <phyllo/backend/hip/mfma.hpp>
#include <phyllo/backend/hip/runtime.hpp>

#if defined(__HIPCC__)

namespace phyllo::inline PHYLLO_ISA::hip {

/// AMD devices: how kernels are launched, and the matrix instructions that they use.
struct Device : gpu::Launcher<Runtime> {
  template <class Storage> using MmaAtom = Mfma<Storage>;
};

}  // namespace phyllo::inline PHYLLO_ISA::hip

#endif
