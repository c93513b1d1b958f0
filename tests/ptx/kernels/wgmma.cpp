// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// wgmma of four warps against a product of matrices on the host (PTX ISA, 9.7.15): 64 rows of
// values in registers, 16 columns of weights in scratch memory. The numbers are small and whole.

#include <cuda_bf16.h>

#include "check.hpp"

namespace {

using check::mixed;

constexpr int rows = 64, columns = 16, inner = 16;
// Bytes to the block of the next 8 inputs, and of the next 8 columns.
constexpr int next_inputs = 128, next_columns = 256;

__host__ __device__ float number(int which, int row, int column) {
  return float(int(mixed(unsigned(which * 5000 + row * 40 + column)) % 9) - 4);
}

__global__ void multiply(float* out) {
  __shared__ alignas(16) __nv_bfloat16 weights[inner * columns];
  int const thread = int(threadIdx.x), lane = thread % 32;
  for (int k = thread; k < inner * columns; k += 128) {
    int const input = k / columns, column = k % columns;
    weights[(input / 8 * next_inputs + column / 8 * next_columns) / 2 + column % 8 * 8 +
            input % 8] = number(1, input, column);
  }
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
  __syncthreads();
  int const row = thread / 32 * 16 + lane / 4, first = lane % 4 * 2;
  unsigned a[4];
  for (int k = 0; k < 4; ++k) {
    __nv_bfloat16 const two[2] = {number(0, row + k % 2 * 8, first + k / 2 * 8),
                                  number(0, row + k % 2 * 8, first + k / 2 * 8 + 1)};
    memcpy(&a[k], two, sizeof a[k]);
  }
  float d[8];
  for (int k = 0; k < 8; ++k) d[k] = number(2, row + k / 2 % 2 * 8, first + k % 2 + k / 4 * 8);
  auto const at = std::uint64_t(__cvta_generic_to_shared(weights));
  std::uint64_t const matrix = (at & 0x3ffff) >> 4 | std::uint64_t(next_inputs >> 4) << 16 |
                               std::uint64_t(next_columns >> 4) << 32;
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
  asm volatile(
      "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 {%0,%1,%2,%3,%4,%5,%6,%7}, "
      "{%8,%9,%10,%11}, %12, 1, 1, 1, 0;"
      : "+f"(d[0]), "+f"(d[1]), "+f"(d[2]), "+f"(d[3]), "+f"(d[4]), "+f"(d[5]), "+f"(d[6]),
        "+f"(d[7])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(matrix));
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
  for (int k = 0; k < 8; ++k)
    out[(row + k / 2 % 2 * 8) * columns + first + k % 2 + k / 4 * 8] = d[k];
}

}  // namespace

int main() {
  check::Array<float> const out(rows * columns);
  multiply<<<1, 128>>>(out.data());
  auto const got = out.values();
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      float sum = number(2, row, column);
      for (int k = 0; k < inner; ++k) sum += number(0, row, k) * number(1, k, column);
      int const index = row * columns + column;
      check::equal("wgmma", index, got[std::size_t(index)], sum);
    }
  return check::result();
}
