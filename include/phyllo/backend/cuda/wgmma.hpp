// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma.hpp>

#include <cstddef>
#include <cstdint>

// The instruction is in no other architecture, nor in sm_90 without the letter. No #error: nvcc
// looks for dependencies in a pass that knows an architecture, but not its letter.
#if defined(PHYLLO_ENABLE_WGMMA) && defined(__CUDA_ARCH__) && !defined(__CUDA_ARCH_FEAT_SM90_ALL)
static_assert(false,
              "PHYLLO_ENABLE_WGMMA requires device code for sm_90a, and this code is for another "
              "architecture. Configure with -DPHYLLO_ENABLE_WGMMA=ON and a Kokkos of "
              "Kokkos_ARCH_HOPPER90, or switch it off.");
#endif

namespace phyllo::inline PHYLLO_ISA::cuda {

/// The matrix instruction wgmma.mma_async (sm_90a): four warps multiply 16 samples each, which are
/// in their registers, with weights that the tensor cores read from scratch memory themselves.
/// Lanes hold values and sums as in mma.m16n8k16.
///
/// options  Storage = bf16 | fp16
/// cost     a fragment of weights is read once for 64 samples, and by no lane; the tensor cores
///          give their full rate; mma.sync reaches about 62 % of it on an H100
/// source   PTX ISA 8, 9.7.15.5 (wgmma: fragments, matrices in shared memory, descriptors)
template <class Storage> struct Wgmma : Mma<Storage> {
  using InRegisters = Mma<Storage>;  // the instruction with the same values and sums
  using Sums = MmaLanes::Sums;
  using Values = typename InRegisters::Values;
  static constexpr int blocks = MmaLanes::blocks;

  /// Weights in scratch memory as the instruction wants them: a column of 8 inputs is 16 bytes, 8
  /// such columns are a block, and of 16 inputs by 8 outputs the two blocks follow each other.
  static constexpr int next_inputs = 128;   // bytes to the block of the next 8 inputs
  static constexpr int next_outputs = 256;  // and of the next 8 outputs

  /// Where the weight of (input, output) of a group of 16 by 16 stands in the group, in numbers.
  /// Lanes have inputs and outputs in the order of MmaLanes.
  PHYLLO_INLINE static constexpr int place(int input, int output) {
    int const k = input / 4 * 2 + input % 2 + input % 4 / 2 * 8;
    int const n = output / 4 * 2 + output % 2 + output % 4 / 2 * 8;
    return n / 8 * (next_outputs / 2) + k / 8 * (next_inputs / 2) + n % 8 * 8 + k % 8;
  }

  /// 16 inputs of some outputs in scratch memory, whose first byte stands at a multiple of 16.
  using Matrix = std::uint64_t;
  PHYLLO_INLINE static Matrix matrix([[maybe_unused]] std::byte const* first) {
#if PHYLLO_ON_DEVICE
    auto const at = static_cast<std::uint32_t>(__cvta_generic_to_shared(first));
    return std::uint64_t((at & 0x3ffff) >> 4) | std::uint64_t(next_inputs >> 4) << 16 |
           std::uint64_t(next_outputs >> 4) << 32;
#else
    return 0;
#endif
  }

  /// Around products: values and sums are in registers before, and products are done behind.
  PHYLLO_INLINE static void begin_products() {
#if PHYLLO_ON_DEVICE && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
#endif
  }
  PHYLLO_INLINE static void end_products() {
#if PHYLLO_ON_DEVICE && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
#endif
  }
  /// Before and behind them: a compiler takes sums for complete where the instruction stands, and
  /// would else use them before the end.
  PHYLLO_INLINE static void settle([[maybe_unused]] Sums& sums) {
#if PHYLLO_ON_DEVICE
    float (&s)[4] = sums.value;
    asm volatile("" : "+f"(s[0]), "+f"(s[1]), "+f"(s[2]), "+f"(s[3])::"memory");
#endif
  }
  /// And before: what computes values is not moved behind the fence.
  PHYLLO_INLINE static void settle([[maybe_unused]] Values& values) {
#if PHYLLO_ON_DEVICE
    std::uint32_t (&v)[4] = values.pair;
    asm volatile("" : "+r"(v[0]), "+r"(v[1]), "+r"(v[2]), "+r"(v[3])::"memory");
#endif
  }
  /// What a thread has written to scratch memory, the instruction may read behind the next barrier.
  PHYLLO_INLINE static void publish() {
#if PHYLLO_ON_DEVICE && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
#endif
  }

  /// sums += values weights, of 64 outputs.
  PHYLLO_INLINE static void multiply_64([[maybe_unused]] Sums (*sums)[blocks][1],
                                        [[maybe_unused]] Values const (&values)[1],
                                        [[maybe_unused]] Matrix weights) {
#if PHYLLO_ON_DEVICE && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    float (&a)[4] = sums[0][0][0].value, (&b)[4] = sums[0][1][0].value;
    float (&c)[4] = sums[1][0][0].value, (&d)[4] = sums[1][1][0].value;
    float (&e)[4] = sums[2][0][0].value, (&f)[4] = sums[2][1][0].value;
    float (&g)[4] = sums[3][0][0].value, (&h)[4] = sums[3][1][0].value;
    std::uint32_t const(&x)[4] = values[0].pair;
    if constexpr (Mma<Storage>::is_bf16)
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
          "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
          "{%32,%33,%34,%35}, %36, 1, 1, 1, 0;"
          : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]), "+f"(b[0]), "+f"(b[1]), "+f"(b[2]),
            "+f"(b[3]), "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(d[0]), "+f"(d[1]),
            "+f"(d[2]), "+f"(d[3]), "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]), "+f"(f[0]),
            "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]),
            "+f"(h[0]), "+f"(h[1]), "+f"(h[2]), "+f"(h[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(weights));
    else
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7,%8,%9,%10,%11,%12,%13,%14,%15,"
          "%16,%17,%18,%19,%20,%21,%22,%23,%24,%25,%26,%27,%28,%29,%30,%31}, "
          "{%32,%33,%34,%35}, %36, 1, 1, 1, 0;"
          : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]), "+f"(b[0]), "+f"(b[1]), "+f"(b[2]),
            "+f"(b[3]), "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3]), "+f"(d[0]), "+f"(d[1]),
            "+f"(d[2]), "+f"(d[3]), "+f"(e[0]), "+f"(e[1]), "+f"(e[2]), "+f"(e[3]), "+f"(f[0]),
            "+f"(f[1]), "+f"(f[2]), "+f"(f[3]), "+f"(g[0]), "+f"(g[1]), "+f"(g[2]), "+f"(g[3]),
            "+f"(h[0]), "+f"(h[1]), "+f"(h[2]), "+f"(h[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(weights));
#endif
  }
  /// sums += values weights, of 16 outputs.
  PHYLLO_INLINE static void multiply_16([[maybe_unused]] Sums (*sums)[blocks][1],
                                        [[maybe_unused]] Values const (&values)[1],
                                        [[maybe_unused]] Matrix weights) {
#if PHYLLO_ON_DEVICE && defined(__CUDA_ARCH_FEAT_SM90_ALL)
    float (&a)[4] = sums[0][0][0].value, (&b)[4] = sums[0][1][0].value;
    std::uint32_t const(&x)[4] = values[0].pair;
    if constexpr (Mma<Storage>::is_bf16)
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n16k16.f32.bf16.bf16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, 1, 1, 1, 0;"
          : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]), "+f"(b[0]), "+f"(b[1]), "+f"(b[2]),
            "+f"(b[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(weights));
    else
      asm volatile(
          "wgmma.mma_async.sync.aligned.m64n16k16.f32.f16.f16 "
          "{%0,%1,%2,%3,%4,%5,%6,%7}, {%8,%9,%10,%11}, %12, 1, 1, 1, 0;"
          : "+f"(a[0]), "+f"(a[1]), "+f"(a[2]), "+f"(a[3]), "+f"(b[0]), "+f"(b[1]), "+f"(b[2]),
            "+f"(b[3])
          : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "l"(weights));
#endif
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda
