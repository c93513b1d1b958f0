// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backend/gpu/host_runtime.hpp>
#include <phyllo/backend/cuda/mma_float.hpp>
#include <phyllo/backend/cuda/wgmma_weights.hpp>
#include <phyllo/backend/gpu/launch/launcher.hpp>
#include <phyllo/backend/hip/mfma.hpp>

namespace phyllo::test {

// A GPU of a few blocks.
template <template <class> class Instruction> struct HostDevice : gpu::Launcher<HostRuntime> {
  template <class Storage> using MmaAtom = Instruction<Storage>;
};

}  // namespace phyllo::test
