// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>

namespace phyllo::test {

/// gpu::Team on a host: one caller computes all threads of a block.
template <int Warps, int Lanes> struct EmulatedTeam {
  static constexpr int warps_here = Warps;
  static constexpr int threads_here = Warps * Lanes;

  std::byte* scratch;
  int of_block = 0;
  int of_blocks = 1;

  int block() const { return of_block; }
  int blocks() const { return of_blocks; }
  static int first_thread() { return 0; }
  static int first_warp() { return 0; }
  static int first_lane() { return 0; }
  static void barrier() {}
};

}  // namespace phyllo::test
