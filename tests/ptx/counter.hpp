// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "instruction.hpp"

namespace ptx {

struct Block;

Unit unit_of(Opcode const& opcode);

/// Requests of warps to one memory.
struct Requests {
  long requests = 0;
  long steps = 0;  // cycles of scratch memory, sectors of 32 bytes of global memory
  long floor = 0;  // steps if the same bytes stood as well as they can
  long bytes = 0;

  void operator+=(Requests const& other);
};

/// Of one kernel, over all of its launches.
struct Counts {
  long launches = 0, blocks = 0, instructions[unit_count] = {};
  long multiply_adds = 0;                 // of matrix instructions
  long most_threads = 0, most_bytes = 0;  // of a block; bytes by the launch
  Requests shared, global, local;
};

/// Counts what kernels do, where PHYLLO_PTX_COUNTS names a file for it, a table with one row for
/// each kernel, or PHYLLO_PTX_ACCESSES one with a row for each instruction that reaches memory.
///
/// source  CUDA C++ Programming Guide 13.0, 20.7 (compute capability 9.0: 32 banks of 4 bytes,
/// global
///         memory in sectors of 32 bytes); accesses of 8 and 16 bytes are those of half a warp and
///         of a quarter at a time
class Counter {
 public:
  ~Counter();
  /// nullptr: nothing is to be counted.
  static Counter* get();

  void launch(Block const& block);
  /// Of the kernel that was launched last.
  void begin(Instruction const& instruction);
  /// Of one lane, in the instruction that has begun.
  void access(Space space, Bits at, int bytes) { accesses_.push_back({space, at, bytes}); }
  void end();

 private:
  struct Access {
    Space space;
    Bits at;
    int bytes;
  };

  /// Of one instruction, over all warps.
  struct Accesses {
    std::string kernel;
    Space space;
    Requests sum;
  };

  void write_counts(char const* path) const;
  void write_accesses(char const* path) const;

  std::map<std::string, Counts> counts_;  // by kernel
  std::map<Instruction const*, Accesses> of_instructions_;
  std::string kernel_;
  Counts* now_ = nullptr;
  Instruction const* instruction_ = nullptr;
  std::vector<Access> accesses_;
};

/// Cycles that scratch memory takes for one request, and those without conflicts of its banks.
Requests shared_request(std::vector<Bits> const& at, int bytes);
/// Sectors of global memory.
Requests global_request(std::vector<Bits> const& at, int bytes);

}  // namespace ptx
