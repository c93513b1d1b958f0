// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backend/gpu/emulated_mfma.hpp>
#include <backend/gpu/emulated_mma.hpp>
#include <backend/gpu/host_runtime.hpp>
#include <phyllo/backend/gpu/launch/launcher.hpp>

namespace phyllo::test {

// A GPU of a few blocks.
template <template <class> class Instruction> struct HostDevice : gpu::Launcher<HostRuntime> {
  template <class Storage> using MmaAtom = Instruction<Storage>;
};

}  // namespace phyllo::test
