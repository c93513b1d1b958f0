// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma_float.hpp>
#include <phyllo/backend/cuda/wgmma_weights.hpp>
#include <phyllo/backend/gpu/team.hpp>
#include <phyllo/backend/hip/mfma.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::test {

// A GPU of a few blocks.
template <template <class> class Instruction> struct HostDevice {
  static int multiprocessors(Kokkos::DefaultHostExecutionSpace const&) { return 3; }
  template <class Storage> using Unit = Instruction<Storage>;

  template <class Kernel>
  static int launch(Kokkos::DefaultHostExecutionSpace const&, std::string const&,
                    Kernel const& kernel, long blocks) {
    int const resident = blocks < 3 ? int(blocks) : 3;
    for (int b = 0; b < resident; ++b) {
      // Scratch memory begins as whatever was there.
      std::vector<std::uint64_t> scratch(Kernel::scratch_bytes / 8 + 2, ~std::uint64_t(0));
      gpu::Team<Kernel::warps, Kernel::threads / Kernel::warps> team{
          reinterpret_cast<std::byte*>(scratch.data())};
      team.scratch += reinterpret_cast<std::uintptr_t>(team.scratch) % 16;
      team.of_block = b;
      team.of_blocks = resident;
      kernel(team);
    }
    return resident;
  }
};

}  // namespace phyllo::test
