// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <bit>
#include <cstdint>
#include <string>
#include <vector>

namespace ptx {

using Bits = std::uint64_t;  // a register of one lane
using Mask = std::uint32_t;  // some lanes of a warp
constexpr int lanes = 32;
constexpr Mask all_lanes = ~Mask(0);

template <class F> void for_each_lane(Mask mask, F&& f) {
  if (mask == all_lanes)  // a loop that compilers turn into vectors
    for (int lane = 0; lane < lanes; ++lane) f(lane);
  else
    for (; mask; mask &= mask - 1) f(std::countr_zero(mask));
}

/// Where an operand's numbers are: a row has one for each lane.
struct Operand {
  enum Kind : std::uint8_t {
    none,
    variable,         // row of the function's registers
    constant,         // row of constants, all lanes the same
    special,          // row of the warp's special registers
    local_address,    // bytes into the lane's own memory
    entry_parameter,  // bytes into the kernel's parameters
    call_parameter    // bytes into those of calls
  };
  Kind kind = none;
  int index = 0;
  bool is_wide = false;  // a register of 64 bits
};

/// The row of constants that holds these bits in all lanes.
Operand constant(Bits bits);

/// State spaces (PTX ISA, 5.1).
enum class Space : std::uint8_t { generic, global, shared, local, constant, entry, call };

/// How a warp goes on; `together` waits for the lanes that the instruction is meant for.
enum class Flow : std::uint8_t { next, together, branch, call, leave, exit, block_barrier };

/// What an instruction keeps busy; one that reaches memory counts by the memory that it reaches.
enum class Unit : std::uint8_t {
  integer,
  division,  // of integers: dozens of instructions on a device
  single,
  half,
  double_precision,
  special,
  conversion,
  move,
  branch,
  barrier,
  matrix,
  memory  // of parameters
};
constexpr int unit_count = 12;

struct Warp;
struct Function;
struct Instruction;
using Execute = void (*)(Warp&, Instruction const&, Mask);

/// One instruction, decoded: what it does is `execute`, which reads the rest.
struct Instruction {
  Execute execute = nullptr;
  Flow flow = Flow::next;
  Unit unit = Unit::move;
  bool guard_negated = false;
  bool names_lanes = false;  // the last operand is a mask of those that it is for
  int guard = -1;            // row of a predicate
  std::vector<Operand> to, from;
  Operand address;  // of memory, with `offset`
  long offset = 0;
  Space space = Space::generic;
  bool atomic = false;     // or volatile: no race
  int bytes = 0;           // of one number in memory
  int option = 0;          // what its family takes for one
  int target = -1;         // of a branch
  long multiply_adds = 0;  // of a product of matrices, a warp's part
  Function* callee = nullptr;
  std::vector<int> arguments, results;  // of a call: bytes into the caller's parameters
  std::string text;
  mutable bool reported = false;
};

/// The words of an opcode: ld, global, v2, f32.
struct Opcode {
  std::vector<std::string> words;

  explicit Opcode(std::string const& text) : words(1) {
    for (char const c : text)
      if (c == '.')
        words.emplace_back();
      else
        words.back() += c;
  }
  std::string const& name() const { return words.front(); }
  std::string const& type() const { return words.back(); }
  bool has(char const* word) const {
    for (auto const& own : words)
      if (own == word) return true;
    return false;
  }
};

/// Bytes of a type such as u16, b32, pred.
int bytes_of(std::string const& type);

/// What each family makes of an opcode; false: the instruction is not one of its own. Operands are
/// there already.
bool decode_arithmetic(Instruction& instruction, Opcode const& opcode);
bool decode_conversion(Instruction& instruction, Opcode const& opcode);
bool decode_memory(Instruction& instruction, Opcode const& opcode);
bool decode_copies(Instruction& instruction, Opcode const& opcode);
bool decode_lanes(Instruction& instruction, Opcode const& opcode);
bool decode_matrix(Instruction& instruction, Opcode const& opcode);

}  // namespace ptx
