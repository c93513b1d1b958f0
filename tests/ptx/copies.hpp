// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <array>
#include <cstddef>
#include <deque>
#include <vector>

#include "instruction.hpp"

namespace ptx {

/// Copies to scratch memory that a lane has started and not waited for, by the groups that it
/// committed; the last group is open.
struct Copies {
  struct Chunk {
    Bits to;
    int bytes;
    std::array<std::byte, 16> value;
  };
  std::deque<std::vector<Chunk>> groups{1};
};

}  // namespace ptx
