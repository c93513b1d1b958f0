// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <vector>

#include "copies.hpp"
#include "module.hpp"
#include "special.hpp"

namespace ptx {

struct Block;

/// Registers and memory that a warp's lanes have in one function. Nobody has written what it begins
/// with: NaN patterns.
struct Frame {
  Function* function;
  std::vector<Bits> rows;
  std::vector<std::byte> parameters, local;  // by lane

  explicit Frame(Function* of)
      : function(of),
        rows(std::size_t(of->rows) * lanes, Bits(0xffff'fffe'ffff'fffe)),
        parameters(std::size_t(of->call_bytes) * lanes),
        local(std::size_t(of->local_bytes) * lanes + 16, std::byte(0xff)) {}
  std::byte* local_of(int lane) {
    auto const begin = (reinterpret_cast<Bits>(local.data()) + 15) / 16 * 16;
    return reinterpret_cast<std::byte*>(begin) + std::size_t(lane) * function->local_bytes;
  }
  std::byte* parameters_of(int lane) {
    return parameters.data() + std::size_t(lane) * function->call_bytes;
  }
};

/// 32 lanes. Those that stand at one place go on together; where they have parted, the deepest call
/// and then the lowest place goes first, so that they meet again where paths join.
struct Warp {
  Block* block;
  int index;
  Mask alive;
  std::uint32_t turn;      // of the warp's lanes: new behind each barrier of theirs
  Frame* frame = nullptr;  // of the lanes that run

  Warp(Block& of, int number, Mask threads);
  /// Until all lanes wait at a barrier or are done, or for some instructions.
  void run(long steps);
  bool can_run() const;

  Bits* row(Operand operand);
  Bits const* row(Operand operand) const { return const_cast<Warp*>(this)->row(operand); }
  Bits* special_row(int which) { return special_.data() + which * lanes; }
  /// An address in a lane's own memory, in whichever call.
  bool is_local(int lane, Bits address, int bytes) const;

  struct Group {
    enum State : std::uint8_t { runs, waits_for_block, waits_for_lanes };
    Frame* frame;
    int depth, place;
    Mask mask;
    State state = runs;
    int barrier = 0;
    Instruction const& instruction() const { return frame->function->code[std::size_t(place)]; }
  };
  std::vector<Group> groups;
  Copies copies[lanes];

 private:
  struct Return {
    Frame* frame;
    int depth, place;
  };
  void merge();
  int choose();
  Mask guarded(Group const& group, Instruction const& instruction) const;
  bool step(Group& group, bool is_forced);
  bool step(Group& group, Instruction const& instruction, Mask mask, bool is_forced);
  bool wait_for_lanes(Group& group, Instruction const& instruction, Mask mask);
  void part(Group& group, Mask mask, int other_place);
  void call(Group& group, Instruction const& instruction);
  void leave(Group& group);
  Frame* frame_of(int depth, Function* function);

  std::vector<std::map<Function*, std::unique_ptr<Frame>>> frames_;  // by depth of calls
  std::vector<Return> returns_[lanes];
  std::vector<Bits> special_;
};

}  // namespace ptx
