// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include <bit>
#include <cstring>
#include <map>

#include "block.hpp"
#include "complaint.hpp"
#include "number.hpp"

// Instructions by which lanes of a warp meet (PTX ISA 9.0, 9.7.9 shfl; 9.7.13 bar.warp, vote,
// activemask).

namespace ptx {

namespace {

enum Shuffle : int { up, down, butterfly, index };

void shuffle(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  Bits* const is_valid =
      in.to.size() > 1 && in.to[1].kind != Operand::none ? warp.row(in.to[1]) : nullptr;
  Bits const *const by = warp.row(in.from[1]), *const clamps = warp.row(in.from[2]);
  Bits given[lanes];
  std::memcpy(given, warp.row(in.from[0]), sizeof given);
  for_each_lane(mask, [&](int lane) {
    int const b = int(by[lane] & 31), clamp = int(clamps[lane] & 31);
    int const segment = int(clamps[lane] >> 8 & 31);
    int const last = (lane & segment) | (clamp & ~segment);
    int source = 0;
    switch (in.option) {
      case up:
        source = lane - b;
        break;
      case down:
        source = lane + b;
        break;
      case butterfly:
        source = lane ^ b;
        break;
      default:
        source = (lane & segment) | (b & ~segment);
        break;
    }
    bool const is_inside = in.option == up ? source >= last : source <= last;
    if (!is_inside) source = lane;
    if (!(mask >> source & 1))
      complain(warp, in, lane,
               "a shuffle from lane " + std::to_string(source) + ", which takes no part");
    to[lane] = std::uint32_t(given[source]);
    if (is_valid) is_valid[lane] = is_inside;
  });
}

enum Vote : int { all, any, ballot, uniform };

void vote(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  Bits const* const from = warp.row(in.from[0]);
  Mask yes = 0;
  for_each_lane(mask, [&](int lane) { yes |= Mask(from[lane] & 1) << lane; });
  Bits const results[] = {yes == mask, yes != 0, yes, yes == mask || yes == 0};
  for_each_lane(mask, [&](int lane) { to[lane] = results[in.option]; });
}

void active(Warp& warp, Instruction const& in, Mask mask) {
  Bits* const to = warp.row(in.to[0]);
  for_each_lane(mask, [&](int lane) { to[lane] = mask; });
}

void meet(Warp& warp, Instruction const&, Mask) { warp.turn = next_moment(); }

// Which of the words the opcode has, in their order; false: none.
bool choose(Instruction& instruction, Opcode const& opcode,
            std::initializer_list<char const*> words) {
  int option = 0;
  for (char const* word : words) {
    if (opcode.has(word)) {
      instruction.option = option;
      return true;
    }
    ++option;
  }
  return false;
}

}  // namespace

bool decode_lanes(Instruction& instruction, Opcode const& opcode) {
  std::string const& name = opcode.name();
  instruction.flow = Flow::together;
  instruction.names_lanes = true;
  if (name == "shfl" && opcode.has("sync") &&
      choose(instruction, opcode, {"up", "down", "bfly", "idx"}))
    instruction.execute = shuffle;
  else if (name == "vote" && opcode.has("sync") &&
           choose(instruction, opcode, {"all", "any", "ballot", "uni"}))
    instruction.execute = vote;
  else if (name == "bar" && opcode.has("warp"))
    instruction.execute = meet;
  else {
    instruction.names_lanes = false;
    instruction.flow = Flow::next;
    if (name == "activemask")
      instruction.execute = active;
    else if (name == "bar" || name == "barrier") {  // for all threads of the block
      bool const reduces = opcode.has("red") && instruction.from.size() == 2 &&
                           choose(instruction, opcode, {"and", "or", "popc"});
      if (reduces || (opcode.has("sync") && instruction.from.size() == 1))
        instruction.flow = Flow::block_barrier;
    }
  }
  return instruction.execute || instruction.flow == Flow::block_barrier;
}

}  // namespace ptx
