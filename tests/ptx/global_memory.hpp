// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "race.hpp"

namespace ptx {

/// Memory of the device, each piece with room around it that belongs to nobody.
class GlobalMemory {
 public:
  struct Piece {
    Bits first, last;
    std::vector<Cell> cells;  // made at the first access
    Cell* cell(Bits at);
  };

  /// Filled with NaN patterns; nullptr: there is not that much.
  void* allocate(std::size_t bytes);
  bool release(void* at);
  /// Of a module's variables.
  void add(void* at, std::size_t bytes);
  /// The piece that holds the whole range.
  Piece* find(Bits at, std::size_t bytes);
  /// A copy's range; complains where it begins in a piece and ends outside.
  void check(void const* at, std::size_t bytes, char const* what);

 private:
  static constexpr std::size_t margin = 512;
  static constexpr std::size_t most_watched = std::size_t(64) << 20;
  std::map<Bits, Piece> pieces_;
  Piece* last_ = nullptr;
};

GlobalMemory& global_memory();

}  // namespace ptx
