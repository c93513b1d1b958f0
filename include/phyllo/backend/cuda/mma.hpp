// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/chunk_copies.hpp>
#include <phyllo/backend/cuda/mma_lanes.hpp>
#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// The matrix instruction mma.m16n8k16 (sm_80 and newer): products of 16 bits summed in float.
///
/// options  Storage = bf16 | fp16; float has an instruction of its own, mma_float.hpp
template <class Storage> struct Mma : MmaLanes, ChunkCopies<Storage> {
  using storage = Storage;

  /// 16 samples of 16 channels; of a lane two samples of 4 channels, as pairs.
  struct Values {
    std::uint32_t pair[4];
  };
  /// 16 inputs of 8 outputs; of a lane 4 inputs of one output, as pairs.
  struct Weights {
    std::uint32_t pair[2];
  };

  PHYLLO_INLINE static gpu::Pack4<Storage> rounded(float const (&value)[4]) {
    return Kokkos::bit_cast<gpu::Pack4<Storage>>(
        Weights{{pack(value[0], value[1]), pack(value[2], value[3])}});
  }
  /// The same of max(x, 0), in as many instructions; a NaN stays one.
  PHYLLO_INLINE static gpu::Pack4<Storage> rounded_rectified(float const (&value)[4]) {
    return Kokkos::bit_cast<gpu::Pack4<Storage>>(
        Weights{{pack_rectified(value[0], value[1]), pack_rectified(value[2], value[3])}});
  }
  PHYLLO_INLINE static void put(Values& values, int part, gpu::Pack4<Storage> const& four) {
    Weights const pairs = weights(four);
    values.pair[part] = pairs.pair[0];
    values.pair[part + 2] = pairs.pair[1];
  }
  PHYLLO_INLINE static Weights weights(gpu::Pack4<Storage> const& four) {
    return Kokkos::bit_cast<Weights>(four);
  }

  /// sums += values weights, for all lanes of a warp together.
  PHYLLO_INLINE static void multiply([[maybe_unused]] Sums (&sums)[1],
                                     [[maybe_unused]] Values const (&values)[1],
                                     [[maybe_unused]] Weights const (&weights)[1]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float (&c)[4] = sums[0].value;
    std::uint32_t const(&a)[4] = values[0].pair;
    std::uint32_t const(&b)[2] = weights[0].pair;
    if constexpr (is_bf16)
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
    else
      asm volatile(
          "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 "
          "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
          : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
          : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
#endif
  }

  /// 16 by 16 numbers in scratch memory as values, whose inputs are in lines one behind the other:
  /// `row`, of lane 8 q + i, is where line i of matrix q of 8 by 8 is; q: inputs 8 (q / 2), samples
  /// 8 (q % 2).
  PHYLLO_INLINE static void transposed([[maybe_unused]] Values (&values)[1],
                                       [[maybe_unused]] Storage const* const (&row)[1]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    transpose(values[0].pair, row[0]);
#endif
  }
  /// The same as weights; q: inputs 8 (q % 2), outputs 8 (q / 2).
  PHYLLO_INLINE static void transposed([[maybe_unused]] Weights (&weights)[blocks][1],
                                       [[maybe_unused]] Storage const* const (&row)[1]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair[4];
    transpose(pair, row[0]);
    weights[0][0] = {{pair[0], pair[1]}};
    weights[1][0] = {{pair[2], pair[3]}};
#endif
  }
  /// Sums of 16 outputs whose weights were in their order: afterwards a lane has four outputs side
  /// by side, from gathered_channel(lane) on, as sum_block and sum_place say.
  PHYLLO_INLINE static void gather_fours([[maybe_unused]] Sums (&sums)[blocks][1]) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    bool const odd = threadIdx.x % 2 != 0;
    PHYLLO_UNROLL_ON_DEVICE
    for (int e = 0; e < 4; ++e) {
      float &first = sums[0][0].value[e], &second = sums[1][0].value[e];
      float const got = __shfl_xor_sync(0xffffffffu, odd ? first : second, 1);
      first = odd ? got : first;
      second = odd ? second : got;
    }
#endif
  }

  /// The row in which scratch memory has a sample of 16, so that half a warp, which reads or writes
  /// four channels of four samples, reaches all banks: rows are 16 bytes longer than a multiple of
  /// 32, and these samples two rows apart.
  PHYLLO_INLINE static constexpr int scratch_row(int sample) {
    return sample / 8 * 8 + sample % 4 * 2 + sample % 8 / 4;
  }
  /// 16 rows of samples in scratch memory, of which 16 channels from `rows` on: as values whose
  /// samples are the inputs of the product, for each channel.
  PHYLLO_INLINE static void by_channel([[maybe_unused]] Values (&values)[1],
                                       [[maybe_unused]] Storage const* rows,
                                       [[maybe_unused]] int stride, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    transpose(values[0].pair, rows + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8);
#endif
  }
  /// The same as weights whose samples are the inputs of the product, and channels its outputs.
  PHYLLO_INLINE static void by_channel([[maybe_unused]] Weights (&weights)[blocks][1],
                                       [[maybe_unused]] Storage const* rows,
                                       [[maybe_unused]] int stride, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair[4];
    transpose(pair, rows + lane % 16 * stride + lane / 16 * 8);
    weights[0][0] = {{pair[0], pair[1]}};
    weights[1][0] = {{pair[2], pair[3]}};
#endif
  }

 protected:
  static constexpr bool is_bf16 = std::is_same_v<Storage, bf16>;

 private:
  PHYLLO_INLINE static std::uint32_t pack([[maybe_unused]] float low, [[maybe_unused]] float high) {
    std::uint32_t pair = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (is_bf16)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
    return pair;
  }
  PHYLLO_INLINE static std::uint32_t pack_rectified([[maybe_unused]] float low,
                                                    [[maybe_unused]] float high) {
    std::uint32_t pair = 0;
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    if constexpr (is_bf16)
      asm("cvt.rn.relu.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
      asm("cvt.rn.relu.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
#endif
    return pair;
  }
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  // Four matrices of 8 by 8, transposed; lanes 8q to 8q + 7 say where the rows of matrix q are.
  PHYLLO_INLINE static void transpose(std::uint32_t (&pair)[4], Storage const* row) {
    auto const at = static_cast<std::uint32_t>(__cvta_generic_to_shared(row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(pair[0]), "=r"(pair[1]), "=r"(pair[2]), "=r"(pair[3])
                 : "r"(at)
                 : "memory");
  }
#endif
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda
