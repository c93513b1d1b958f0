// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "race.hpp"
#include "warp.hpp"

namespace ptx {

/// Counts barriers and launches: accesses of different moments are ordered.
std::uint32_t next_moment();

/// The blocks of a launch, one after the other. Their warps take turns in an order drawn from
/// PHYLLO_PTX_SEED.
struct Block {
  // Addresses in scratch memory begin where those of sm_90 do; what is asked for at a launch stands
  // behind room for all that kernels declare.
  static constexpr long static_begin = 1024, dynamic_begin = static_begin + 48 * 1024;
  static constexpr long most_dynamic = 227 * 1024;

  Function* kernel;
  std::byte* parameters;
  std::array<unsigned, 3> blocks, threads, index{};
  long dynamic_bytes;
  std::vector<std::byte> shared;
  std::vector<Cell> cells;                          // of it
  std::uint32_t launched, started = 0, moment = 0;  // moment: new behind each barrier
  std::vector<std::unique_ptr<Warp>> warps;
  long instructions = 0;  // of warps, done

  Block(Function* of, std::byte* with, std::array<unsigned, 3> grid, std::array<unsigned, 3> block,
        long scratch);
  void launch();
  bool is_shared(Bits at, int bytes) const;

 private:
  void run();
  bool release();
  void reduce(int threads_here);
};

}  // namespace ptx
