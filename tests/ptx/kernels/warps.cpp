// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// What threads do together: shuffles, votes, atomic instructions, barriers, branches and calls that
// part lanes, and what the host asks of the device.

#include <algorithm>
#include <vector>

#include "check.hpp"

namespace {

using check::Array;
using check::equal;
using check::mixed;

constexpr int threads = 128;
constexpr unsigned all = 0xffffffffu;

// ---- copies to scratch memory ----

// Two groups: 16 bytes, then 8 and zeros behind them, which are written when they are waited for.
__global__ void copy(int const* in, int* out) {
  __shared__ alignas(16) int scratch[2][4 * threads];
  int const i = int(threadIdx.x);
  for (int g = 0; g < 2; ++g)
    for (int k = 0; k < 4; ++k) scratch[g][4 * i + k] = -1;
  for (int g = 0; g < 2; ++g) {
    auto const at = unsigned(__cvta_generic_to_shared(&scratch[g][4 * i]));
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(at), "l"(in + 4 * i),
                 "r"(g == 0 ? 16 : 8)
                 : "memory");
    asm volatile("cp.async.commit_group;" ::: "memory");
  }
  asm volatile("cp.async.wait_group %0;" ::"n"(1) : "memory");
  for (int g = 0; g < 2; ++g)
    for (int k = 0; k < 4; ++k) out[(g * threads + i) * 4 + k] = scratch[g][4 * i + k];
  asm volatile("cp.async.wait_group %0;" ::"n"(0) : "memory");
  for (int k = 0; k < 4; ++k) out[(2 * threads + i) * 4 + k] = scratch[1][4 * i + k];
}
void copies() {
  std::vector<int> numbers(4 * threads);
  for (int i = 0; i < 4 * threads; ++i) numbers[std::size_t(i)] = int(mixed(unsigned(i)) & 0xffff);
  Array<int> const in(numbers), out(12 * threads);
  copy<<<1, threads>>>(in.data(), out.data());
  auto const got = out.values();
  for (int i = 0; i < 4 * threads; ++i) {
    int const own = numbers[std::size_t(i)];
    equal("copy", i, got[std::size_t(i)], own);
    equal("copy under way", i, got[std::size_t(4 * threads + i)], -1);
    equal("short copy", i, got[std::size_t(8 * threads + i)], i % 4 < 2 ? own : 0);
  }
}

// ---- signs ----

// Signed numbers in registers of 64 bits, whatever their own width.
__global__ void widen(int const* in, short const* narrow, long long* out) {
  int const i = int(threadIdx.x);
  asm volatile("ld.global.s32 %0, [%1];" : "=l"(out[i]) : "l"(in + i));
  asm volatile("ld.global.s16 %0, [%1];" : "=l"(out[threads + i]) : "l"(narrow + i));
}
void signs() {
  std::vector<int> wide(threads);
  std::vector<short> narrow(threads);
  for (int i = 0; i < threads; ++i) {
    wide[std::size_t(i)] = (i % 2 == 0 ? 1 : -1) * (i * 1000003 + 1);
    narrow[std::size_t(i)] = short((i % 2 == 0 ? -1 : 1) * (i * 101 + 1));
  }
  Array<int> const in(wide);
  Array<short> const from(narrow);
  Array<long long> const out(2 * threads);
  widen<<<1, threads>>>(in.data(), from.data(), out.data());
  auto const got = out.values();
  for (int i = 0; i < threads; ++i) {
    equal("sign of s32", i, got[std::size_t(i)], static_cast<long long>(wide[std::size_t(i)]));
    equal("sign of s16", i, got[std::size_t(threads + i)],
          static_cast<long long>(narrow[std::size_t(i)]));
  }
}

// ---- shuffles and votes ----

__global__ void shuffle(int* out) {
  int const i = int(threadIdx.x), own = int(mixed(unsigned(i)) & 0xffff);
  out[i] = __shfl_up_sync(all, own, 3, 16);
  out[i + threads] = __shfl_down_sync(all, own, 5);
  out[i + 2 * threads] = __shfl_xor_sync(all, own, 9);
  out[i + 3 * threads] = __shfl_sync(all, own, i * 7, 8);
}
void shuffles() {
  Array<int> const out(4 * threads);
  shuffle<<<1, threads>>>(out.data());
  auto const got = out.values();
  for (int i = 0; i < threads; ++i) {
    auto const own = [&](int lane) { return int(mixed(unsigned(i / 32 * 32 + lane)) & 0xffff); };
    int const lane = i % 32;
    equal("shuffle up", i, got[std::size_t(i)], own(lane % 16 < 3 ? lane : lane - 3));
    equal("shuffle down", i, got[std::size_t(i + threads)], own(lane + 5 > 31 ? lane : lane + 5));
    equal("shuffle xor", i, got[std::size_t(i + 2 * threads)], own(lane ^ 9));
    equal("shuffle", i, got[std::size_t(i + 3 * threads)], own(lane / 8 * 8 + i * 7 % 8));
  }
}

__global__ void vote(unsigned* out) {
  unsigned const i = threadIdx.x, warp = i / 32;
  bool const yes = warp == 0 || (warp == 1 && i % 3 == 0);
  unsigned result =
      __ballot_sync(all, yes) ^ (__any_sync(all, yes) ? 2u : 0u) ^ (__all_sync(all, yes) ? 8u : 0u);
  if (i % 32 < 7) result ^= __activemask() << 8;
  out[i] = result;
}
void votes() {
  Array<unsigned> const out(threads);
  vote<<<1, threads>>>(out.data());
  auto const got = out.values();
  for (unsigned i = 0; i < threads; ++i) {
    unsigned ballot = 0;
    for (unsigned lane = 0; lane < 32; ++lane)
      if (i / 32 == 0 || (i / 32 == 1 && (i / 32 * 32 + lane) % 3 == 0)) ballot |= 1u << lane;
    unsigned const expected =
        ballot ^ (ballot ? 2u : 0u) ^ (ballot == all ? 8u : 0u) ^ (i % 32 < 7 ? 127u << 8 : 0u);
    equal("vote", int(i), got[i], expected);
  }
}

// ---- atomic instructions, of blocks and of a block's threads ----

__global__ void change(unsigned* out, double* sum, int* least) {
  __shared__ unsigned here;
  if (threadIdx.x == 0) here = 0;
  __syncthreads();
  unsigned const i = blockIdx.x * threads + threadIdx.x;
  atomicAdd(&here, i);
  atomicAdd(&out[0], i);
  atomicMax(&out[1], i * 7 % 1009);
  atomicAnd(&out[2], ~(1u << i % 20));
  atomicOr(&out[3], 1u << i % 20);
  atomicXor(&out[4], i * i);
  atomicAdd(sum, 0.5 * i);
  atomicMin(least, 100 - int(i));
  unsigned old = out[5], assumed;  // a sum by compare-and-swap
  do {
    assumed = old;
    old = atomicCAS(&out[5], assumed, assumed + i);
  } while (assumed != old);
  __syncthreads();
  if (threadIdx.x == 0) atomicExch(&out[6 + blockIdx.x], here);
}
void changes() {
  constexpr unsigned blocks = 3, n = blocks * threads;
  Array<unsigned> const out(std::vector<unsigned>{0, 0, all, 0, 0, 0, 0, 0, 0});
  Array<double> const sum(std::vector<double>{0});
  Array<int> const least(std::vector<int>{50});
  change<<<blocks, threads>>>(out.data(), sum.data(), least.data());
  unsigned expected[6] = {0, 0, ~0xfffffu, 0xfffff, 0, 0};
  for (unsigned i = 0; i < n; ++i) {
    expected[0] += i;
    expected[1] = std::max(expected[1], i * 7 % 1009);
    expected[4] ^= i * i;
  }
  expected[5] = expected[0];
  auto const got = out.values();
  for (int k = 0; k < 6; ++k) equal("atomic instruction", k, got[std::size_t(k)], expected[k]);
  for (unsigned b = 0; b < blocks; ++b)
    equal("atomic sum of a block", int(b), got[6 + b],
          threads * (threads * b) + threads * (threads - 1) / 2);
  equal("atomic sum of doubles", 0, sum.values()[0], 0.5 * expected[0]);
  equal("atomic minimum", 0, least.values()[0], 100 - int(n - 1));
}

// ---- lanes part in loops, branches, calls and returns, with local memory ----

__host__ __device__ __noinline__ int collatz(unsigned n, int depth) {
  if (n == 1) return 0;
  if (depth > 200) return 1000;
  return 1 + collatz(n % 2 ? 3 * n + 1 : n / 2, depth + 1);
}
__host__ __device__ int wander(int i) {
  int values[8];
  for (int k = 0; k < 8; ++k) values[k] = k * i;
  int sum = 0;
  for (int k = 0; k < i % 13; ++k) {
    if (i % 3 == 0) {
      sum += values[(k * i) % 8];
      if (sum > 300) break;
    } else if (k % 2 == 0) {
      continue;
    }
    switch ((i + k) % 4) {
      case 0:
        sum += 3;
        break;
      case 1:
        sum *= 2;
        break;
      case 2:
        sum -= i;
        break;
      default:
        sum ^= k;
    }
  }
  return i % 5 == 0 ? sum : sum + collatz(unsigned(i) + 1, 0);
}
__global__ void part(int* out) {
  int const i = int(blockIdx.x * blockDim.x + threadIdx.x);
  out[i] = wander(i);
}
void parts() {
  Array<int> const out(200);
  part<<<2, 100>>>(out.data());
  auto const got = out.values();
  for (int i = 0; i < 200; ++i) equal("parted lanes", i, got[std::size_t(i)], wander(i));
}

// ---- barriers of a block and of a warp; scratch memory of both kinds ----

__global__ void sum_by_barriers(int* out) {
  extern __shared__ int dynamic[];
  __shared__ int fixed[threads];
  int const i = int(threadIdx.x);
  dynamic[i] = i;
  __syncthreads();
  for (int step = threads / 2; step >= 32; step /= 2) {
    if (i < step) dynamic[i] += dynamic[i + step];
    __syncthreads();
  }
  for (int step = 16; step > 0 && i < 32; step /= 2) {
    int const other = dynamic[i + step < threads ? i + step : i];
    __syncwarp();
    if (i < step) dynamic[i] += other;
    __syncwarp();
  }
  fixed[i] = 2 * i;
  asm volatile("bar.sync 1;" ::: "memory");
  out[i] = fixed[i ^ 33] + (i == 0 ? dynamic[0] : 0);
}

__global__ void count_at_barriers(int* out) {
  int const i = int(threadIdx.x), bound = int(blockDim.x);
  out[i] = __syncthreads_count(i % 3 == 0) + 1000 * __syncthreads_and(i < bound) +
           2000 * __syncthreads_and(i < bound - 1) + 4000 * __syncthreads_or(i == bound - 1) +
           8000 * __syncthreads_or(i == bound);
}

void barriers() {
  Array<int> const counts(100);
  count_at_barriers<<<1, 100>>>(counts.data());
  for (int const got : counts.values()) equal("reductions at barriers", 0, got, 34 + 1000 + 4000);
  Array<int> const out(threads);
  sum_by_barriers<<<1, threads, sizeof(int) * threads>>>(out.data());
  auto const got = out.values();
  for (int i = 0; i < threads; ++i)
    equal("barriers", i, got[std::size_t(i)],
          2 * (i ^ 33) + (i == 0 ? threads * (threads - 1) / 2 : 0));
}

// ---- memory: numbers with a sign, vectors ----

__global__ void read(short const* from, signed char const* bytes, int* out) {
  int const i = int(threadIdx.x);
  int extended;
  asm("ld.global.s16 %0, [%1];" : "=r"(extended) : "l"(from + i));
  short4 const four = reinterpret_cast<short4 const*>(from)[i / 4];
  out[i] = extended * 100 + bytes[i] + (four.x ^ four.y ^ four.z ^ four.w);
}
void reads() {
  std::vector<short> values(threads);
  std::vector<signed char> few(threads);
  for (std::size_t i = 0; i < threads; ++i) {
    values[i] = short(mixed(i));
    few[i] = static_cast<signed char>(mixed(i + threads));
  }
  Array<short> const from(values);
  Array<signed char> const bytes(few);
  Array<int> const out(threads);
  read<<<1, threads>>>(from.data(), bytes.data(), out.data());
  auto const got = out.values();
  for (std::size_t i = 0; i < threads; ++i) {
    short const* const four = &values[i / 4 * 4];
    equal("reads", int(i), got[i],
          values[i] * 100 + few[i] + (four[0] ^ four[1] ^ four[2] ^ four[3]));
  }
}

// ---- the host: variables, parameters, graphs, errors ----

__constant__ int table[4];
__device__ int total;
struct Large {
  double factor;
  int values[20];
};
__global__ void use(Large large, int* out) {
  int const i = int(threadIdx.x);
  out[i] = int(large.factor) * large.values[i % 20] + table[i % 4];
  if (i == 0) total += 1;
}
void host_calls() {
  Large large{3, {}};
  for (int k = 0; k < 20; ++k) large.values[k] = k * k;
  int const values[4] = {5, 6, 7, 8};
  cudaMemcpyToSymbol(table, values, sizeof values);
  int const none = 0;
  cudaMemcpyToSymbol(total, &none, sizeof none);
  Array<int> const out(threads);
  cudaStream_t stream;
  cudaStreamCreate(&stream);
  cudaStreamBeginCapture(stream, cudaStreamCaptureModeGlobal);
  cudaMemsetAsync(out.data(), 0, sizeof(int) * threads, stream);
  use<<<1, threads, 0, stream>>>(large, out.data());
  cudaGraph_t graph;
  cudaStreamEndCapture(stream, &graph);
  large.factor = 100;  // the graph has its own
  int const before = out.values()[5];
  equal("a captured launch is not made", 0, before, -1);
  cudaGraphExec_t executable;
  cudaGraphInstantiateWithFlags(&executable, graph, 0);
  cudaGraphLaunch(executable, stream);
  cudaGraphLaunch(executable, stream);
  auto const got = out.values();
  for (int i = 0; i < threads; ++i)
    equal("parameters", i, got[std::size_t(i)], 3 * (i % 20) * (i % 20) + values[i % 4]);
  use<<<1, 2048>>>(large, out.data());
  equal("a launch of too many threads", 0, int(cudaGetLastError()),
        int(cudaErrorInvalidConfiguration));
}

}  // namespace

int main() {
  copies();
  signs();
  shuffles();
  votes();
  changes();
  parts();
  barriers();
  reads();
  host_calls();
  return check::result();
}
