// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "race.hpp"

#include "block.hpp"
#include "complaint.hpp"

namespace ptx {

void check_race(Warp const& warp, Instruction const& instruction, int lane, Cell* cell, Bits at,
                int bytes, Access access, bool is_global) {
  if (bytes == 1 || access == Access::atomic) return;
  bool const writes = access != Access::read;
  Block const& block = *warp.block;
  auto const thread = std::uint16_t(warp.index * lanes + lane);
  auto const told = [&](std::string const& what, std::string const& between = "") {
    complain(warp, instruction, lane,
             what + (is_global ? " of global memory at " : " of scratch memory at ") +
                 std::to_string(at) + between);
  };
  auto const without_barrier = [&](std::string const& other) {
    return ", with no barrier between, by threads " + std::to_string(thread) + " and " + other;
  };
  // In another block of this launch.
  auto const elsewhere = [&](std::uint32_t moment) {
    return moment >= block.launched && moment < block.started;
  };
  auto const same_warp = [&](std::uint16_t other) { return other / lanes == warp.index; };
  for (Cell* const end = cell + (bytes + 1) / 2; cell != end; ++cell) {
    if (is_global && !block.kernel->has_atomics) {
      if (elsewhere(cell->write_moment))
        told(writes ? "a write after another block's write" : "a read after another block's write");
      if (writes && elsewhere(cell->read_moment)) told("a write after another block's read");
    }
    bool const may_repeat = same_warp(cell->writer) || block.kernel->has_atomics;
    bool const is_ordered = same_warp(cell->writer) && cell->write_turn != warp.turn;
    if (cell->write_moment == block.moment && cell->writer != thread && !is_ordered &&
        !(access == Access::rewrite && may_repeat))
      told(writes ? "two writes" : "a read after a write",
           without_barrier(std::to_string(cell->writer)));
    if (writes) {
      if (cell->read_moment == block.moment) {
        std::uint32_t const others = cell->reading_warps & ~(1u << warp.index);
        if (others)
          told("a write after a read",
               without_barrier("one of warp " + std::to_string(std::countr_zero(others))));
        else if (same_warp(cell->reader) && cell->read_turn == warp.turn &&
                 (cell->reader != thread || cell->read_by_others))
          told("a write after a read", without_barrier(std::to_string(cell->reader)));
      }
      cell->write_moment = block.moment;
      cell->write_turn = warp.turn;
      cell->writer = thread;
    } else {
      if (cell->read_moment != block.moment) cell->reading_warps = 0;
      bool const is_same_turn = cell->read_moment == block.moment && cell->read_turn == warp.turn &&
                                same_warp(cell->reader);
      cell->read_by_others = is_same_turn && (cell->read_by_others || cell->reader != thread);
      cell->read_moment = block.moment;
      cell->reading_warps |= 1u << warp.index;
      cell->read_turn = warp.turn;
      cell->reader = thread;
    }
  }
}

}  // namespace ptx
