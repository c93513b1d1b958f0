// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>
#include <phyllo/core/macros.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::hip {

/// The matrix instruction v_mfma_f32_16x16x16 of AMD's matrix cores (gfx90a and newer): a wavefront
/// multiplies 16 outputs by 16 inputs with 16 inputs by 16 samples, products of 16 bits summed in
/// float. With the outputs as rows, a lane's four sums are the four channels of its sample that the
/// next layer wants there.
///
/// On a host, where `here` is 64, one call does the work of all lanes by the same tables.
/// source   AMD CDNA 2 instruction set, 7.1 (matrix fragments); AMD matrix instruction calculator
template <class Storage> struct Mfma {
  using storage = Storage;
  static constexpr int lanes = 64;
  static constexpr long scratch_budget = 64 * 1024;
  static constexpr int here = PHYLLO_ON_DEVICE ? 1 : lanes;  // lanes that one call stands for
  static constexpr int blocks = 1;                           // of sums in 16 outputs
  static constexpr int parts = 1;                            // samples of a lane

  /// 16 samples of 16 channels; of a lane 4 channels of one sample, as pairs.
  struct Values {
    std::uint32_t pair[2];
  };
  /// 16 inputs of 16 outputs; of a lane 4 inputs of one output, as pairs.
  struct Weights {
    std::uint32_t pair[2];
  };
  /// 16 samples of 16 outputs.
  struct Sums {
    float value[4];
  };

  PHYLLO_INLINE static constexpr int sample(int lane, int) { return lane % 16; }
  PHYLLO_INLINE static constexpr int channel(int lane) { return lane / 16 * 4; }  // first of four
  PHYLLO_INLINE static constexpr int value_pair(int, int half) { return half; }
  PHYLLO_INLINE static constexpr int sum_block(int) { return 0; }
  PHYLLO_INLINE static constexpr int sum_place(int, int c) { return c; }
  PHYLLO_INLINE static constexpr int weight_lane(int input, int output) {
    return input / 4 * 16 + output;
  }
  PHYLLO_INLINE static constexpr int weight_block(int) { return 0; }

  /// Of products over samples, which are gradients of weights: where place e of the sums stands, in
  /// groups of 16 inputs and 16 outputs.
  PHYLLO_INLINE static constexpr int gradient_input(int lane, int) { return lane % 16; }
  PHYLLO_INLINE static constexpr int gradient_output(int lane, int, int e) {
    return lane / 16 * 4 + e;
  }

  PHYLLO_INLINE static std::uint32_t pack(float low, float high) {
    return std::uint32_t(Storage(low).bits()) | std::uint32_t(Storage(high).bits()) << 16;
  }

  /// Where a compiler must not read further ahead: it would take registers for all weights of a
  /// layer.
  PHYLLO_INLINE static void keep_order() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_sched_barrier(0);
#endif
  }

  /// Makes an index one that no compiler knows: what is computed from it is not kept in registers
  /// from one tile to the next.
  PHYLLO_INLINE static void forget([[maybe_unused]] int& index) {
#if PHYLLO_ON_DEVICE
    asm volatile("" : "+v"(index));
#endif
  }

  /// sums += values weights, for all lanes of a wavefront together.
  PHYLLO_INLINE static void multiply(Sums (&sums)[here], Values const (&values)[here],
                                     Weights const (&weights)[here]) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
    typedef float Float4 __attribute__((ext_vector_type(4)));
    typedef short Short4 __attribute__((ext_vector_type(4)));
    typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
    auto const c = Kokkos::bit_cast<Float4>(sums[0]);
    if constexpr (is_bf16)
      sums[0] = Kokkos::bit_cast<Sums>(__builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
          Kokkos::bit_cast<Short4>(weights[0]), Kokkos::bit_cast<Short4>(values[0]), c, 0, 0, 0));
    else
      sums[0] = Kokkos::bit_cast<Sums>(__builtin_amdgcn_mfma_f32_16x16x16f16(
          Kokkos::bit_cast<Half4>(weights[0]), Kokkos::bit_cast<Half4>(values[0]), c, 0, 0, 0));
#elif !PHYLLO_ON_DEVICE
    float a[16][16], b[16][16];
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i) {
        a[lane % 16][lane / 16 * 4 + i] = half_of(weights[lane].pair[i / 2], i % 2);
        b[lane / 16 * 4 + i][lane % 16] = half_of(values[lane].pair[i / 2], i % 2);
      }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
          sums[lane].value[i] += a[lane / 16 * 4 + i][k] * b[k][lane % 16];
#endif
  }

  /// 16 rows of samples in scratch memory, of which 16 channels from `rows` on: as values whose
  /// samples are the inputs of the product, for each channel.
  PHYLLO_INLINE static void by_channel(Values (&values)[here], Storage const* rows, int stride,
                                       int lane) {
    for (int l = 0; l < here; ++l) gather(values[l].pair, rows, stride, lane + l);
  }
  /// The same as weights whose samples are the inputs of the product, and channels its outputs.
  PHYLLO_INLINE static void by_channel(Weights (&weights)[blocks][here], Storage const* rows,
                                       int stride, int lane) {
    for (int l = 0; l < here; ++l) gather(weights[0][l].pair, rows, stride, lane + l);
  }
  /// What lanes of a wavefront wrote to scratch memory is there for the others.
  PHYLLO_INLINE static void synchronize() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_fence(__ATOMIC_ACQ_REL, "wavefront");
    __builtin_amdgcn_wave_barrier();
#endif
  }

 private:
  PHYLLO_INLINE static void gather(std::uint32_t (&pair)[2], Storage const* rows, int stride,
                                   int lane) {
    Storage const* const from = rows + lane / 16 * 4 * stride + lane % 16;
    for (int i = 0; i < 2; ++i)
      pair[i] = std::uint32_t(from[2 * i * stride].bits()) |
                std::uint32_t(from[(2 * i + 1) * stride].bits()) << 16;
  }
  static constexpr bool is_bf16 = std::is_same_v<Storage, bf16>;
  static float half_of(std::uint32_t pair, int high) {
    return float(Storage::from_bits(std::uint16_t(pair >> (16 * high))));
  }
};

}  // namespace phyllo::hip
