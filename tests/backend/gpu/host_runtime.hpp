// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <backend/gpu/emulated_team.hpp>

#include <Kokkos_Core.hpp>

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::test {

// A GPU of three multiprocessors, a block on each, as gpu::Launcher asks it: it has room for every
// kernel, and blocks run one after the other.
struct HostRuntime {
  using space = Kokkos::DefaultHostExecutionSpace;
  enum class Status { success, no_instructions, no_room, other };
  static constexpr char const* backend = "HostBackend";
  static constexpr char const* one_by_one = "ONE_BY_ONE=1";
  static constexpr Status success = Status::success;

  static std::string device(space const&) { return "host"; }
  static int multiprocessors(space const&) { return 3; }
  static long scratch_bytes(space const&) { return 256 * 1024; }
  template <class Kernel> static Status prepare(space const&, int& resident) {
    resident = 1;
    return success;
  }
  template <class Kernel> static Status launch(space const&, Kernel const& kernel, int blocks) {
    for (int b = 0; b < blocks; ++b) {
      // Scratch memory begins as whatever was there.
      std::vector<std::uint64_t> scratch(Kernel::scratch_bytes / 8 + 2, ~std::uint64_t(0));
      EmulatedTeam<Kernel::warps, Kernel::threads / Kernel::warps> team{
          reinterpret_cast<std::byte*>(scratch.data())};
      team.scratch += reinterpret_cast<std::uintptr_t>(team.scratch) % 16;
      team.of_block = b;
      team.of_blocks = blocks;
      kernel(team);
    }
    return success;
  }
  static char const* text(Status) { return "not today"; }
  static bool lacks_instructions(Status status) { return status == Status::no_instructions; }
  static bool lacks_room(Status status) { return status == Status::no_room; }
};

}  // namespace phyllo::test
