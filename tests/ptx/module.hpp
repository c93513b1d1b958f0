// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "instruction.hpp"

namespace ptx {

/// A kernel or a device function.
struct Function {
  struct Parameter {
    int offset, bytes;
  };
  std::string name;
  bool is_entry = false;
  bool has_atomics = false;  // blocks may speak to each other
  int rows = 0;              // of registers
  int entry_bytes = 0;       // a kernel's parameters
  int call_bytes = 0;        // those of a function and of its calls, a lane
  int local_bytes = 0;       // a lane
  int most_threads = 1024;   // .maxntid
  int complaints = 0;        // of it as a kernel
  std::vector<Parameter> inputs, outputs;
  std::vector<Instruction> code;  // empty: declared only
  struct Module const* module = nullptr;
};

/// A variable in global or constant memory.
struct Variable {
  std::byte* memory = nullptr;
  std::size_t bytes = 0;
};

/// What one PTX text defines.
struct Module {
  std::unordered_map<std::string, std::unique_ptr<Function>> functions;
  std::unordered_map<std::string, Variable> variables;
  std::unordered_map<std::string, Operand> symbols;
  int static_shared = 0;  // bytes of all its kernels
};

/// errors  stops where the text is not understood, but not for an unknown instruction: that is for
///         the one who executes it
/// source  PTX ISA 9.0, chapters 4 (syntax), 5 (spaces), 7 (functions), 11 (directives)
std::unique_ptr<Module> parse(std::string const& text);

}  // namespace ptx
