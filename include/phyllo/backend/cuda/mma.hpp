// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/core/macros.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::cuda {

/// The matrix instruction mma.m16n8k16 of NVIDIA's tensor cores (sm_80 and newer): a warp
/// multiplies 16 samples by 16 inputs with 16 inputs by 8 outputs, products of 16 bits summed in
/// float.
///
/// The order of inputs inside a group of 16 is free as long as values and weights share it. Here
/// lane t = lane % 4 has the channels 4t to 4t + 3, so that it reads and writes them in one access,
/// and what a layer leaves in a lane is what the next layer wants there.
///
/// On a host, where `here` is 32, one call does the work of all lanes by the same tables: that is
/// how tests execute the kernels without a GPU.
/// source   PTX ISA 8, 9.7.14.5.8 (matrix fragments of mma.m16n8k16 with 16-bit types)
template <class Storage> struct Mma {
  using storage = Storage;
  static constexpr int lanes = 32;
  /// Bytes for a block: what a device of the architecture has, less what the system takes.
#if defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_AMPERE87) || defined(KOKKOS_ARCH_ADA89)
  static constexpr long scratch_budget = 96 * 1024;
#else
  static constexpr long scratch_budget = 160 * 1024;
#endif
  static constexpr int here = PHYLLO_ON_DEVICE ? 1 : lanes;  // lanes that one call stands for
  static constexpr int blocks = 2;  // of sums in 16 outputs; weights of 8 outputs each
  static constexpr int parts = 2;   // samples of a lane

  /// 16 samples of 16 channels; of a lane `parts` samples of 4 channels, as pairs.
  struct Values {
    std::uint32_t pair[4];
  };
  /// 16 inputs of 8 outputs; of a lane 4 inputs of one output, as pairs.
  struct Weights {
    std::uint32_t pair[2];
  };
  /// 16 samples of 8 outputs.
  struct Sums {
    float value[4];
  };

  PHYLLO_INLINE static constexpr int sample(int lane, int part) { return lane / 4 + 8 * part; }
  PHYLLO_INLINE static constexpr int channel(int lane) { return lane % 4 * 4; }  // first of four
  PHYLLO_INLINE static constexpr int value_pair(int part, int half) { return part + 2 * half; }
  /// Where the sum of a lane's channel 0 to 3 stands: number of the block, place in it.
  PHYLLO_INLINE static constexpr int sum_block(int c) { return c / 2; }
  PHYLLO_INLINE static constexpr int sum_place(int part, int c) { return 2 * part + c % 2; }
  /// Who has the weight of (input, output) of a group of 16 by 16; the pair is input % 4 / 2.
  PHYLLO_INLINE static constexpr int weight_lane(int input, int output) {
    return (output / 4 * 2 + output % 2) * 4 + input / 4;
  }
  PHYLLO_INLINE static constexpr int weight_block(int output) { return output % 4 / 2; }

  /// Of products over samples, which are gradients of weights: where place e of a block of sums
  /// stands, in groups of 16 inputs and 16 outputs.
  PHYLLO_INLINE static constexpr int gradient_input(int lane, int e) {
    return lane / 4 + e / 2 * 8;
  }
  PHYLLO_INLINE static constexpr int gradient_output(int lane, int block, int e) {
    return 8 * block + lane % 4 * 2 + e % 2;
  }

  PHYLLO_INLINE static std::uint32_t pack(float low, float high) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair;
    if constexpr (is_bf16)
      asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    else
      asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(pair) : "f"(high), "f"(low));
    return pair;
#else
    return std::uint32_t(Storage(low).bits()) | std::uint32_t(Storage(high).bits()) << 16;
#endif
  }

  /// Where a compiler must not read further ahead: here the instructions are volatile themselves.
  PHYLLO_INLINE static void keep_order() {}

  /// Makes an index one that no compiler knows: what is computed from it is not kept in registers
  /// from one tile to the next.
  PHYLLO_INLINE static void forget([[maybe_unused]] int& index) {
#if PHYLLO_ON_DEVICE
    asm volatile("" : "+r"(index));
#endif
  }

  /// sums += values weights, for all lanes of a warp together.
  PHYLLO_INLINE static void multiply(Sums (&sums)[here], Values const (&values)[here],
                                     Weights const (&weights)[here]) {
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
#elif !PHYLLO_ON_DEVICE
    float a[16][16], b[16][8];
    for (int lane = 0; lane < lanes; ++lane) {
      int const group = lane / 4, thread = lane % 4;
      for (int i = 0; i < 8; ++i)
        a[group + (i / 2 % 2) * 8][thread * 2 + i % 2 + (i >= 4) * 8] =
            half_of(values[lane].pair[i / 2], i % 2);
      for (int i = 0; i < 4; ++i)
        b[thread * 2 + i % 2 + (i >= 2) * 8][group] = half_of(weights[lane].pair[i / 2], i % 2);
    }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
          sums[lane].value[i] += a[lane / 4 + (i / 2) * 8][k] * b[k][lane % 4 * 2 + i % 2];
#endif
  }

  /// 16 rows of samples in scratch memory, of which 16 channels from `rows` on: as values whose
  /// samples are the inputs of the product, for each channel.
  PHYLLO_INLINE static void by_channel(Values (&values)[here], Storage const* rows, int stride,
                                       [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    transpose(values[0].pair, rows + (lane % 8 + lane / 16 * 8) * stride + lane / 8 % 2 * 8);
#elif !PHYLLO_ON_DEVICE
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < 8; ++i)
        set_half(values[l].pair[i / 2], i % 2,
                 rows[(l % 4 * 2 + i % 2 + (i >= 4) * 8) * stride + l / 4 + i / 2 % 2 * 8]);
#endif
  }
  /// The same as weights whose samples are the inputs of the product, and channels its outputs.
  PHYLLO_INLINE static void by_channel(Weights (&weights)[blocks][here], Storage const* rows,
                                       int stride, [[maybe_unused]] int lane) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t pair[4];
    transpose(pair, rows + lane % 16 * stride + lane / 16 * 8);
    weights[0][0] = {{pair[0], pair[1]}};
    weights[1][0] = {{pair[2], pair[3]}};
#elif !PHYLLO_ON_DEVICE
    for (int l = 0; l < lanes; ++l)
      for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < 4; ++i)
          set_half(weights[b][l].pair[i / 2], i % 2,
                   rows[(l % 4 * 2 + i % 2 + (i >= 2) * 8) * stride + b * 8 + l / 4]);
#endif
  }
  /// What lanes of a warp wrote to scratch memory is there for the others.
  PHYLLO_INLINE static void synchronize() {
#if PHYLLO_ON_DEVICE
    __syncwarp();
#endif
  }

 private:
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
  static void set_half(std::uint32_t& pair, int high, Storage value) {
    pair = (pair & (high ? 0xffffu : 0xffff0000u)) | std::uint32_t(value.bits()) << (16 * high);
  }
  static constexpr bool is_bf16 = std::is_same_v<Storage, bf16>;
  static float half_of(std::uint32_t pair, int high) {
    return float(Storage::from_bits(std::uint16_t(pair >> (16 * high))));
  }
};

}  // namespace phyllo::cuda
