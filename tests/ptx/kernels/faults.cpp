// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// Each kernel in two ways: what it lacks when it is wrong is there when it is right.

#include <cassert>
#include <cstring>
#include <string>

#include "check.hpp"

namespace {

constexpr int threads = 256;
__device__ int self() { return int(threadIdx.x); }

template <bool right> __global__ void warps_read(float* out) {
  __shared__ float scratch[threads];
  scratch[self()] = 1;
  if (right) __syncthreads();
  out[self()] = scratch[self() ^ 64];
}
template <bool right> __global__ void warps_write(float* out) {
  __shared__ float scratch[threads];
  scratch[self()] = 1;
  __syncthreads();
  float const other = scratch[self() ^ 64];
  if (right) __syncthreads();
  scratch[self()] = other + 1;
  out[self()] = other;
}
template <bool right> __global__ void warps_write_twice(float* out) {
  __shared__ float scratch[threads];
  scratch[self()] = 1;
  if (right) __syncthreads();
  scratch[self() ^ 64] = 2;
  __syncthreads();
  out[self()] = scratch[self()];
}
template <bool right> __global__ void lanes_read(float* out) {
  __shared__ float scratch[threads];
  scratch[self()] = 1;
  if (right) __syncwarp();
  out[self()] = scratch[self() ^ 1];
}
template <bool right> __global__ void lanes_write(float* out) {
  __shared__ float scratch[threads];
  scratch[self()] = 1;
  __syncwarp();
  float const other = scratch[self() ^ 1];
  if (right) __syncwarp();
  scratch[self()] = other + 1;
  out[self()] = other;
}
// All lanes may write the same.
template <bool right> __global__ void lanes_write_twice(float* out) {
  __shared__ float scratch[2];
  int const place = out[self()] == 7;  // no
  scratch[place] = right ? 1.0f : float(self());
  __syncwarp();
  out[self()] = scratch[0];
}
// A copy to scratch memory, which is there when its lane has waited, for the others after a
// barrier.
template <bool right> __global__ void copies(float* out) {
  __shared__ alignas(16) float scratch[4 * threads];
  auto const at = unsigned(__cvta_generic_to_shared(scratch + 4 * self()));
  asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(out), "r"(16)
               : "memory");
  asm volatile("cp.async.commit_group;" ::: "memory");
  asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
  if (right) __syncthreads();
  out[self()] = scratch[4 * (self() ^ 64)];
}
template <bool right> __global__ void global_read(float* out) {
  out[self()] = 1;
  if (right) __syncthreads();
  float const other = out[self() ^ 64];
  __syncthreads();
  out[self()] = other;
}
template <bool right> __global__ void blocks_read(float* out) {
  if (blockIdx.x == 0) out[self()] = 1;
  if (blockIdx.x == 1 && !right) out[self() + threads] = out[self()];
}
template <bool right> __global__ void blocks_write(float* out) {
  out[self() + (right ? threads * blockIdx.x : 0)] = 1;
}
template <bool right> __global__ void outside(float* out) { out[2 * self() + (right ? 1 : 2)] = 1; }
__global__ void read_first(float const* from, float* out) { out[self()] = from[self()]; }
__global__ void write_scratch(float* out) {
  extern __shared__ float dynamic[];
  dynamic[self()] = 1;
  out[self()] = dynamic[self()];
}
template <bool right> __global__ void misaligned(float* out) {
  auto* const four = reinterpret_cast<float4*>(out + (right ? 4 : 1));
  if (self() == 0) *four = {1, 2, 3, 4};
}
template <bool right> __global__ void missing_lanes(float* out) {
  float value = 1;
  if (right || self() % 32 < 16) value = __shfl_down_sync(0xffffffffu, value, 1);
  out[self()] = value;
}
template <bool right> __global__ void absent_lane(float* out) {
  if (self() % 32 < 16) out[self()] = __shfl_sync(0xffffu, 1.0f, right ? 2 : 20);
}
template <bool right> __global__ void mixed_barriers(float* out) {
  if (self() % 32 < (right ? 32 : 16)) {
    asm volatile("bar.sync 0;" ::: "memory");
    out[self()] = 1;
  } else {
    asm volatile("bar.sync 0;" ::: "memory");
    out[self()] = 2;
  }
}
template <bool right> __global__ void endless_barrier(float* out) {
  if (self() < 128)
    asm volatile("bar.sync 1;" ::: "memory");
  else
    asm volatile("bar.sync %0;" ::"r"(right ? 1 : 2) : "memory");
  out[self()] = 1;
}
template <bool right> __global__ void assertion(float* out) {
  assert(right || self() != 3);
  out[self()] = 1;
}
template <bool right> __global__ void unknown(float* out) {
  if (!right) asm volatile("nanosleep.u32 1;");
  out[self()] = 1;
}

template <bool right> void run(std::string const& name) {
  check::Array<float> const out(2 * threads);
  float* const data = out.data();
  if (name == "warps_read") warps_read<right><<<1, threads>>>(data);
  if (name == "warps_write") warps_write<right><<<1, threads>>>(data);
  if (name == "warps_write_twice") warps_write_twice<right><<<1, threads>>>(data);
  if (name == "lanes_read") lanes_read<right><<<1, threads>>>(data);
  if (name == "lanes_write") lanes_write<right><<<1, threads>>>(data);
  if (name == "lanes_write_twice") lanes_write_twice<right><<<1, 32>>>(data);
  if (name == "global_read") global_read<right><<<1, threads>>>(data);
  if (name == "blocks_read") blocks_read<right><<<2, threads>>>(data);
  if (name == "copies") copies<right><<<1, threads>>>(data);
  if (name == "blocks_write") blocks_write<right><<<2, threads>>>(data);
  if (name == "outside") outside<right><<<1, threads>>>(data);
  if (name == "released") {
    check::Array<float>* const other = new check::Array<float>(threads);
    float const* const from = other->data();
    if (!right) delete other;
    read_first<<<1, threads>>>(from, data);
  }
  if (name == "outside_scratch")
    write_scratch<<<1, threads, right ? sizeof(float) * threads : 1020>>>(data);
  if (name == "misaligned") misaligned<right><<<1, threads>>>(data);
  if (name == "missing_lanes") missing_lanes<right><<<1, threads>>>(data);
  if (name == "absent_lane") absent_lane<right><<<1, threads>>>(data);
  if (name == "mixed_barriers") mixed_barriers<right><<<1, threads>>>(data);
  if (name == "endless_barrier") endless_barrier<right><<<1, threads>>>(data);
  if (name == "assertion") assertion<right><<<1, threads>>>(data);
  if (name == "unknown") unknown<right><<<1, threads>>>(data);
  if (name == "host_read") {
    check::Array<float> const one(threads);
    float const copied = one.values()[2];
    if ((right ? copied : one.data()[2]) == 7) cudaFree(nullptr);
  }
  if (name == "captured_allocation") {
    cudaStream_t stream;
    cudaStreamCreate(&stream);
    void* more = nullptr;
    cudaGraph_t graph;
    if (right) cudaMalloc(&more, 4);
    cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal);
    if (!right) cudaMalloc(&more, 4);
    cudaStreamEndCapture(stream, &graph);
    cudaFree(more);
  }
  if (name == "long_copy") {
    check::Array<float> const one(threads);
    float room[threads + 1];
    cudaMemcpy(room, one.data(), sizeof(float) * (threads + !right), cudaMemcpyDeviceToHost);
  }
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 3) return EXIT_FAILURE;
  if (std::strcmp(argv[2], "right") == 0)
    run<true>(argv[1]);
  else
    run<false>(argv[1]);
  return cudaGetLastError() == cudaSuccess ? EXIT_SUCCESS : EXIT_FAILURE;
}
