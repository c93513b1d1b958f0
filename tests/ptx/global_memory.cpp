// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "global_memory.hpp"

#include <cstdlib>
#include <cstring>

#include "complaint.hpp"

namespace ptx {

GlobalMemory& global_memory() {
  static auto* const memory = new GlobalMemory;  // outlives what programs free at their end
  return *memory;
}

Cell* GlobalMemory::Piece::cell(Bits at) {
  if (last - first > most_watched) return nullptr;
  if (cells.empty()) cells.resize((last - first) / 2 + 1);
  return cells.data() + (at - first) / 2;
}

void GlobalMemory::add(void* at, std::size_t bytes) {
  auto const first = reinterpret_cast<Bits>(at);
  pieces_[first] = {first, first + bytes, {}};
}

void* GlobalMemory::allocate(std::size_t bytes) {
  std::size_t const all = (bytes + 2 * margin + margin - 1) / margin * margin;
  auto* const raw = static_cast<std::byte*>(std::aligned_alloc(margin, all));
  if (!raw) return nullptr;
  std::memset(raw, 0xff, all);
  add(raw + margin, bytes);
  return raw + margin;
}

bool GlobalMemory::release(void* at) {
  if (!pieces_.erase(reinterpret_cast<Bits>(at))) return false;
  last_ = nullptr;
  std::free(static_cast<std::byte*>(at) - margin);
  return true;
}

GlobalMemory::Piece* GlobalMemory::find(Bits at, std::size_t bytes) {
  auto const holds = [&](Piece const& piece) {
    return at >= piece.first && at + bytes <= piece.last;
  };
  if (last_ && holds(*last_)) return last_;
  auto next = pieces_.upper_bound(at);
  if (next == pieces_.begin() || !holds((--next)->second)) return nullptr;
  return last_ = &next->second;
}

void GlobalMemory::check(void const* at, std::size_t bytes, char const* what) {
  auto const first = reinterpret_cast<Bits>(at);
  if (bytes && find(first, 1) && !find(first, bytes))
    complain(std::string(what) + " of " + std::to_string(bytes) +
             " bytes, of which the memory at " + std::to_string(first) + " has " +
             std::to_string(find(first, 1)->last - first));
}

}  // namespace ptx
