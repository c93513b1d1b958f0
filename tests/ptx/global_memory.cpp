// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "global_memory.hpp"

#include <sys/mman.h>

#include <csignal>
#include <cstdlib>
#include <cstring>

#include "complaint.hpp"

namespace ptx {

namespace {

struct sigaction others;

void accessed(int signal, siginfo_t* about, void*) {
  auto const at = reinterpret_cast<Bits>(about->si_addr);
  if (auto const* const piece = global_memory().find(at, 1))
    stop("the host touches byte " + std::to_string(at - piece->first) + " of " +
         std::to_string(piece->last - piece->first) + " bytes in memory of the device.");
  sigaction(signal, &others, nullptr);  // which are asked next, when the access is tried again
}

// Test programs, too, have a handler, which they set after this library's first call.
void watch_the_host() {
  struct sigaction now;
  sigaction(SIGSEGV, nullptr, &now);
  if ((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == accessed) return;
  others = now;
  now = {};
  now.sa_flags = SA_SIGINFO | SA_NODEFER;
  now.sa_sigaction = accessed;
  sigaction(SIGSEGV, &now, nullptr);
}

}  // namespace

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
  pieces_[first] = {first, first + bytes, Reach::host, static_cast<std::byte*>(at), {}};
}

void* GlobalMemory::allocate(std::size_t bytes, Reach reach) {
  watch_the_host();
  std::size_t const all = with_margins(bytes);
  auto* const here = static_cast<std::byte*>(std::aligned_alloc(page, all));
  if (!here) return nullptr;
  std::memset(here, 0xff, all);
  std::byte* at = here;
  if (reach == Reach::device) {  // addresses behind which there is nothing
    void* const nothing =
        mmap(nullptr, all, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (nothing == MAP_FAILED) {
      std::free(here);
      return nullptr;
    }
    at = static_cast<std::byte*>(nothing);
  }
  auto const first = reinterpret_cast<Bits>(at + margin);
  pieces_[first] = {first, first + bytes, reach, here + margin, {}};
  return at + margin;
}

bool GlobalMemory::release(void* at) {
  auto const found = pieces_.find(reinterpret_cast<Bits>(at));
  if (found == pieces_.end()) return false;
  Piece const& piece = found->second;
  if (piece.reach == Reach::device)
    munmap(static_cast<std::byte*>(at) - margin, with_margins(piece.last - piece.first));
  std::free(piece.here - margin);
  pieces_.erase(found);
  last_ = nullptr;
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

std::byte* GlobalMemory::range(void const* at, std::size_t bytes, char const* what) {
  auto const first = reinterpret_cast<Bits>(at);
  Piece const* const piece = bytes ? find(first, 1) : nullptr;
  if (!piece) return static_cast<std::byte*>(const_cast<void*>(at));
  if (find(first, bytes)) return piece->place(first);
  complain(std::string(what) + " of " + std::to_string(bytes) + " bytes, of which the memory at " +
           std::to_string(first) + " has " + std::to_string(piece->last - first));
  return nullptr;
}

}  // namespace ptx
