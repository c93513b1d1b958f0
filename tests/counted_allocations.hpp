// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

// Replaces the program's allocation functions by ones that count: included by one file of a
// program.

#include <atomic>
#include <cstddef>
#include <cstdlib>
#include <new>

namespace phyllo::test {

inline std::atomic<long> allocated{0}, freed{0};

inline void* counted(void* pointer) {
  if (pointer == nullptr) throw std::bad_alloc();
  ++allocated;
  return pointer;
}
// Not inlined: GCC compares the free in it with the operator new of the caller.
[[gnu::noinline]] inline void give_back(void* pointer) {
  freed += pointer != nullptr;
  std::free(pointer);
}

struct Counts {
  long allocated = 0, freed = 0;
  bool operator==(Counts const&) const = default;
};
inline Counts counts() { return {allocated.load(), freed.load()}; }

}  // namespace phyllo::test

// The other forms end in these.
void* operator new(std::size_t size) { return phyllo::test::counted(std::malloc(size)); }
void* operator new(std::size_t size, std::align_val_t alignment) {
  auto const a = static_cast<std::size_t>(alignment);
  return phyllo::test::counted(std::aligned_alloc(a, (size + a - 1) / a * a));
}
void operator delete(void* pointer) noexcept { phyllo::test::give_back(pointer); }
void operator delete(void* pointer, std::size_t) noexcept { phyllo::test::give_back(pointer); }
void operator delete(void* pointer, std::align_val_t) noexcept { phyllo::test::give_back(pointer); }
void operator delete(void* pointer, std::size_t, std::align_val_t) noexcept {
  phyllo::test::give_back(pointer);
}
