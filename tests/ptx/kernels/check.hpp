// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

namespace check {

inline int failures = 0;

/// Says on stderr what differs; ends a program's main.
inline int result() {
  if (failures) std::fprintf(stderr, "%d values differ.\n", failures);
  return failures ? EXIT_FAILURE : EXIT_SUCCESS;
}

template <class T> void equal(char const* what, int index, T got, T expected) {
  if (got == expected || ++failures > 20) return;
  std::fprintf(stderr, "%s of %d: got %.17g (%llx), expected %.17g (%llx)\n", what, index,
               double(got), static_cast<unsigned long long>(got), double(expected),
               static_cast<unsigned long long>(expected));
}

/// Numbers of the device, copied here when they are asked for.
template <class T> class Array {
 public:
  explicit Array(std::size_t size) : size_(size) { cudaMalloc(&memory_, size * sizeof(T)); }
  explicit Array(std::vector<T> const& values) : Array(values.size()) {
    cudaMemcpy(memory_, values.data(), size_ * sizeof(T), cudaMemcpyHostToDevice);
  }
  Array(Array const&) = delete;
  ~Array() { cudaFree(memory_); }
  T* data() const { return memory_; }
  std::vector<T> values() const {
    std::vector<T> result(size_);
    cudaError_t const error =
        cudaMemcpy(result.data(), memory_, size_ * sizeof(T), cudaMemcpyDeviceToHost);
    if (error != cudaSuccess || cudaGetLastError() != cudaSuccess) ++failures;
    return result;
  }

 private:
  std::size_t size_;
  T* memory_ = nullptr;
};

/// Bits without pattern, the same everywhere.
__host__ __device__ inline std::uint64_t mixed(std::uint64_t x) {
  x = (x + 1) * 0x9e3779b97f4a7c15u;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9u;
  return x ^ x >> 27;
}

}  // namespace check
