// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>

#include "instruction.hpp"

namespace ptx {

/// rewrite: of what stands there already, which lanes of a warp may do together, and warps in
/// kernels with atomic instructions, as the last block of a sum in Kokkos does.
enum class Access : std::uint8_t { read, write, rewrite, atomic };

/// What is remembered of two bytes of memory: who wrote and who read last.
struct Cell {
  std::uint32_t write_moment = 0, write_turn = 0, read_moment = 0, read_turn = 0;
  std::uint32_t reading_warps = 0;
  std::uint16_t writer = 0, reader = 0;  // threads of the block
  bool read_by_others = false;           // of the reader's warp, in its turn
};

/// Complains where two threads meet at an address, one of them writing, with nothing between that
/// orders them: a barrier of the block, or of the warp for its own lanes. Between blocks of a
/// launch nothing does, but for kernels with atomic instructions or fences, which this leaves
/// alone. Single bytes are not looked at.
///
/// source  PTX ISA 9.0, 8 (memory consistency model)
void check_race(Warp const& warp, Instruction const& instruction, int lane, Cell* cell, Bits at,
                int bytes, Access access, bool is_global);

}  // namespace ptx
