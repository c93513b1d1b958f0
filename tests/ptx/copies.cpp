// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "copies.hpp"

#include <algorithm>
#include <cstring>

#include "block.hpp"
#include "complaint.hpp"
#include "memory.hpp"

// cp.async and its groups (PTX ISA 9.0, 9.7.9.25.3). Sources are read at once; scratch memory is
// written when the copy is waited for, which is the latest time that a device may take, and is
// looked at for races at both times.

namespace ptx {

namespace {

void start(Warp& warp, Instruction const& in, Mask mask) {
  Instruction shared = in;
  shared.space = Space::shared;
  Block& block = *warp.block;
  Bits const* const to = warp.row(in.to[0]);
  Bits const* const from = warp.row(in.address);
  Bits const* const bytes = warp.row(in.from[0]);
  Bits const* const given_bytes = warp.row(in.from.back());  // behind them zeros
  for_each_lane(mask, [&](int lane) {
    Copies::Chunk chunk{Bits(std::uint32_t(to[lane])), int(bytes[lane]), {}};
    auto const given = std::size_t(std::min(bytes[lane], Bits(std::uint32_t(given_bytes[lane]))));
    if (given > 0) {
      auto const* const at = place(warp, in, lane, from[lane], int(given), Access::read);
      if (!at) return;
      std::memcpy(chunk.value.data(), at, given);
    }
    if (chunk.to % Bits(chunk.bytes) != 0 || !block.is_shared(chunk.to, chunk.bytes)) {
      complain(warp, in, lane,
               "the copy's place in scratch memory, " + std::to_string(chunk.to) +
                   ", is misaligned or outside of it");
      return;
    }
    check_race(warp, shared, lane, block.cells.data() + chunk.to / 2, chunk.to, chunk.bytes,
               Access::write, false);
    warp.copies[lane].groups.back().push_back(chunk);
  });
}

void commit(Warp& warp, Instruction const&, Mask mask) {
  for_each_lane(mask, [&](int lane) { warp.copies[lane].groups.emplace_back(); });
}

// All groups but the last ones, chunk by chunk for all lanes.
void wait(Warp& warp, Instruction const& in, Mask mask) {
  Instruction shared = in;
  shared.space = Space::shared;
  std::vector<Copies::Chunk> done[lanes];
  std::size_t most = 0;
  for_each_lane(mask, [&](int lane) {
    auto& groups = warp.copies[lane].groups;
    for (auto const last = std::size_t(warp.row(in.from[0])[lane]); groups.size() > last + 1;
         groups.pop_front())
      done[lane].insert(done[lane].end(), groups.front().begin(), groups.front().end());
    most = std::max(most, done[lane].size());
  });
  for (std::size_t k = 0; k < most; ++k)
    for_each_lane(mask, [&](int lane) {
      if (k >= done[lane].size()) return;
      auto const& chunk = done[lane][k];
      if (auto* const at =
              place(warp, shared, lane, chunk.to, chunk.bytes, Access::write, chunk.value.data()))
        std::memcpy(at, chunk.value.data(), std::size_t(chunk.bytes));
    });
}

}  // namespace

bool decode_copies(Instruction& instruction, Opcode const& opcode) {
  if (opcode.name() != "cp" || !opcode.has("async") || opcode.has("bulk")) return false;
  if (opcode.has("commit_group")) {
    instruction.execute = commit;
  } else if (opcode.has("wait_group") && instruction.from.size() == 1) {
    instruction.execute = wait;
  } else if (opcode.has("shared") && opcode.has("global") && instruction.to.size() == 1 &&
             !instruction.from.empty()) {
    instruction.space = Space::global;
    instruction.execute = start;
  }
  return instruction.execute != nullptr;
}

}  // namespace ptx
