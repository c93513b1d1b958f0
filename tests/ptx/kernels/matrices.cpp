// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// mma.sync and ldmatrix against products of matrices on the host. The numbers are small and whole,
// so that every order of sums has the same result; lanes are taken from the tables of the PTX
// ISA, 9.7.14.

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include "check.hpp"

namespace {

using check::Array;
using check::equal;
using check::mixed;

constexpr int rows = 16, columns = 8;

__host__ __device__ float number(int which, int row, int column) {
  return float(int(mixed(unsigned(which * 1000 + row * 40 + column)) % 9) - 4);
}
template <class T> __device__ unsigned pair(float first, float second) {
  T const two[2] = {T(first), T(second)};
  unsigned bits;
  memcpy(&bits, two, sizeof bits);
  return bits;
}

template <class T> __global__ void multiply_16(float* out) {
  int const group = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4;
  unsigned a[4], b[2];
  for (int k = 0; k < 4; ++k) {
    int const row = group + k % 2 * 8, column = 2 * t + k / 2 * 8;
    a[k] = pair<T>(number(0, row, column), number(0, row, column + 1));
  }
  for (int k = 0; k < 2; ++k) {
    int const row = 2 * t + k * 8;
    b[k] = pair<T>(number(1, row, group), number(1, row + 1, group));
  }
  float c[4];
  for (int k = 0; k < 4; ++k) c[k] = number(2, group + k / 2 * 8, 2 * t + k % 2);
  if constexpr (sizeof(T) == 2 && std::is_same_v<T, __half>)
    asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  else
    asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
        "{%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int k = 0; k < 4; ++k) out[(group + k / 2 * 8) * columns + 2 * t + k % 2] = c[k];
}

__global__ void multiply_8(float* out) {
  int const group = int(threadIdx.x) / 4, t = int(threadIdx.x) % 4;
  unsigned a[4], b[2];
  for (int k = 0; k < 4; ++k)
    a[k] = __float_as_uint(number(0, group + k % 2 * 8, t + k / 2 * 4)) | 0x1fff;  // not read
  for (int k = 0; k < 2; ++k) b[k] = __float_as_uint(number(1, t + k * 4, group));
  float c[4];
  for (int k = 0; k < 4; ++k) c[k] = number(2, group + k / 2 * 8, 2 * t + k % 2);
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
  for (int k = 0; k < 4; ++k) out[(group + k / 2 * 8) * columns + 2 * t + k % 2] = c[k];
}

void compare(char const* name, Array<float> const& out, int inner) {
  auto const got = out.values();
  for (int row = 0; row < rows; ++row)
    for (int column = 0; column < columns; ++column) {
      float sum = number(2, row, column);
      for (int k = 0; k < inner; ++k) sum += number(0, row, k) * number(1, k, column);
      int const index = row * columns + column;
      equal(name, index, got[std::size_t(index)], sum);
    }
}

// 1 or -1, and 1.5 times 2^-24: the sums are between floats.
__global__ void round(float* out) {
  int const lane = int(threadIdx.x);
  unsigned const a = __float_as_uint(lane % 4 == 0 ? 1.5f : 0.0f);
  unsigned const b = __float_as_uint(lane % 4 == 0 ? 0x1p-24f : 0.0f);
  float c[4] = {1, -1, 1, -1};
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
      "{%0,%1,%2,%3};"
      : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
      : "r"(a), "r"(a), "r"(0), "r"(0), "r"(b), "r"(0));
  for (int k = 0; k < 4; ++k) out[k * 32 + lane] = c[k];
}
void rounding() {
  Array<float> const out(128);
  round<<<1, 32>>>(out.data());
  auto const got = out.values();
  for (int i = 0; i < 128; ++i)
    equal("rounding towards zero", i, got[std::size_t(i)],
          i / 32 % 2 == 0 ? 1.0f : -0x1.fffffcp-1f);
}

// Four matrices of 8 by 8 numbers of 16 bits, each after the one before it.
template <bool transposed> __global__ void load(unsigned* out) {
  __shared__ alignas(16) unsigned short scratch[256];
  int const lane = int(threadIdx.x);
  for (int k = lane; k < 256; k += 32) scratch[k] = static_cast<unsigned short>(k);
  __syncwarp();
  auto const at = unsigned(__cvta_generic_to_shared(&scratch[lane * 8]));
  unsigned r[4];
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
                 : "r"(at));
  for (int k = 0; k < 4; ++k) out[k * 32 + lane] = r[k];
}
template <bool transposed> void loads() {
  Array<unsigned> const out(128);
  load<transposed><<<1, 32>>>(out.data());
  auto const got = out.values();
  for (int k = 0; k < 4; ++k)
    for (int lane = 0; lane < 32; ++lane) {
      int const row = lane / 4, column = lane % 4 * 2;
      auto const at = [&](int r, int c) { return unsigned(k * 64 + r * 8 + c); };
      unsigned const expected = transposed ? at(column, row) | at(column + 1, row) << 16
                                           : at(row, column) | at(row, column + 1) << 16;
      equal("ldmatrix", k * 32 + lane, got[std::size_t(k * 32 + lane)], expected);
    }
}

}  // namespace

int main() {
  Array<float> const out(rows * columns);
  multiply_16<__nv_bfloat16><<<1, 32>>>(out.data());
  compare("mma of bf16", out, 16);
  multiply_16<__half><<<1, 32>>>(out.data());
  compare("mma of f16", out, 16);
  multiply_8<<<1, 32>>>(out.data());
  compare("mma of tf32", out, 8);
  rounding();
  loads<false>();
  loads<true>();
  return check::result();
}
