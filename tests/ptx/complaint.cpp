// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "complaint.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>

#include "block.hpp"
#include "warp.hpp"

namespace ptx {

namespace {

constexpr int most = 40, most_of_a_kernel = 3;

// Destroyed behind everything that the program itself has, whose exit status it replaces.
struct Complaints {
  int count = 0;
  ~Complaints() {
    if (!count) return;
    std::fprintf(stderr, "ptx: FAILED, %d complaints, see above.\n", count);
    std::fflush(nullptr);
    std::_Exit(EXIT_FAILURE);
  }
} complaints;

}  // namespace

void stop(std::string const& sentence) {
  std::fprintf(stderr, "ptx: FAILED, %s\n", sentence.c_str());
  std::fflush(nullptr);
  std::_Exit(EXIT_FAILURE);
}

void complain(std::string const& what) {
  std::fprintf(stderr, "ptx: %s\n", what.c_str());
  if (++complaints.count == most)
    stop("this is the last of " + std::to_string(most) + " complaints.");
}

void complain(Warp const& warp, Instruction const& instruction, int lane, std::string const& what) {
  Block const& block = *warp.block;
  if (instruction.reported || block.kernel->complaints == most_of_a_kernel) return;
  instruction.reported = true;
  ++block.kernel->complaints;
  Function const* const function = warp.frame->function;
  auto const& [x, y, z] = block.index;
  complain(what + "\n  at  " + instruction.text + "\n  in  " + readable(function->name) +
           (function == block.kernel ? "" : "\n  of  " + readable(block.kernel->name)) +
           "\n  by  block (" + std::to_string(x) + ", " + std::to_string(y) + ", " +
           std::to_string(z) + "), warp " + std::to_string(warp.index) + ", lane " +
           std::to_string(lane));
}

std::string readable(std::string const& name) {
  int status = 0;
  char* const text = abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status);
  std::string const result = status ? name : text;
  std::free(text);
  return result;
}

}  // namespace ptx
