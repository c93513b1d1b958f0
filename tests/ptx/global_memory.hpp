// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cstddef>
#include <map>
#include <vector>

#include "race.hpp"

namespace ptx {

/// Whom memory of the device is for besides kernels and copies.
enum class Reach { device, host };

/// Memory of the device, each piece with room around it that belongs to nobody. A program that
/// touches what is for the device alone ends with a sentence.
class GlobalMemory {
 public:
  struct Piece {
    Bits first, last;
    Reach reach;
    std::byte* here;          // where its first byte is
    std::vector<Cell> cells;  // made at the first access
    Cell* cell(Bits at);
    std::byte* place(Bits at) const { return here + (at - first); }
  };

  /// Filled with NaN patterns; nullptr: there is not that much.
  void* allocate(std::size_t bytes, Reach reach);
  bool release(void* at);
  /// Of a module's variables.
  void add(void* at, std::size_t bytes);
  /// The piece that holds the whole range.
  Piece* find(Bits at, std::size_t bytes);
  /// Where a copy's range is, on the host or in a piece; complains where it begins in one and ends
  /// outside, and gives nullptr then.
  std::byte* range(void const* at, std::size_t bytes, char const* what);

 private:
  static constexpr std::size_t margin = 512, page = 4096;
  static constexpr std::size_t with_margins(std::size_t bytes) {
    return (bytes + 2 * margin + page - 1) / page * page;
  }
  static constexpr std::size_t most_watched = std::size_t(64) << 20;
  std::map<Bits, Piece> pieces_;
  Piece* last_ = nullptr;
};

GlobalMemory& global_memory();

}  // namespace ptx
