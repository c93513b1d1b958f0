// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels whose instructions and accesses can be counted by hand; counts.cmake compares.

#include "check.hpp"

namespace {

__device__ int at(int stride) { return int(threadIdx.x) * stride; }

// A write of one float by each lane, `Stride` floats apart: one cycle for 1 and 33, 2 for 2, 32
// for 32.
template <int Stride> __global__ void scratch(float* y) {
  __shared__ float numbers[32 * 33];
  float volatile* const v = numbers;
  v[at(Stride)] = 1;
  if (y == nullptr) y[0] = v[0];
}
// 16 bytes of each lane: a quarter of a warp at a time, four cycles; 32 bytes apart, eight.
template <int Stride> __global__ void scratch_of_four(float4* y) {
  __shared__ float4 numbers[32 * 2];
  numbers[at(Stride)] = make_float4(1, 2, 3, 4);
  __syncthreads();
  if (y == nullptr) y[0] = numbers[31];
}
// Reads of four sectors a warp, or of one for each lane.
template <int Stride> __global__ void global(float const* x, float* y) {
  float const value = x[at(Stride)];
  if (value == 7) y[threadIdx.x] = value;
}
__global__ void quotient(int n, int* y) {
  if (int(threadIdx.x) / n == 7) y[0] = 1;
}

__global__ void asked_for(float* y) {
  extern __shared__ float all[];
  all[threadIdx.x] = 1;
  if (y == nullptr) y[0] = all[0];
}
// A product of matrices of ones by each of two warps: 16 x 8 sums of 16 products.
__global__ void products(float* y) {
  unsigned const one = 0x3c003c00;
  float sum[4] = {};
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%4,%4,%4}, {%4,%4}, "
      "{%0,%1,%2,%3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(one));
  if (sum[0] != 16) y[0] = sum[0];
}

}  // namespace

int main() {
  check::Array<float> const x(std::vector<float>(1024, 1.0f)), y(64);
  check::Array<int> const i(1);
  check::Array<float4> const four(64);
  scratch<1><<<1, 32>>>(y.data());
  scratch<2><<<1, 32>>>(y.data());
  scratch<32><<<1, 32>>>(y.data());
  scratch<33><<<1, 32>>>(y.data());
  scratch_of_four<1><<<1, 32>>>(four.data());
  scratch_of_four<2><<<1, 32>>>(four.data());
  global<1><<<2, 32>>>(x.data(), y.data());
  global<32><<<1, 32>>>(x.data(), y.data());
  quotient<<<1, 64>>>(3, i.data());
  asked_for<<<1, 32, 256>>>(y.data());
  products<<<1, 64>>>(y.data());
  return cudaDeviceSynchronize() == cudaSuccess ? check::result() : EXIT_FAILURE;
}
