// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/backend/hip/mfma_lanes.hpp>
#include <phyllo/core/bf16.hpp>
#include <phyllo/core/fp16.hpp>

#include <Kokkos_BitManipulation.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::hip {

/// The matrix instructions of gfx90a and newer: v_mfma_f32_16x16x16 for products of 16 bits summed
/// in float, and v_mfma_f32_16x16x4 for float, exact to its roundings.
///
/// options  Storage = bf16 | fp16 | float
/// numerics sums in float. On gfx90a the instructions of 16 bits take subnormal numbers for zero:
///          fp16 below 6.1e-5, which loss scaling keeps gradients from; bf16 has no such numbers.
/// source   AMD, MI200 MFMA behavior specifics (MIOpen's documentation)
template <class Storage> struct Mfma : MfmaLanes {
  using storage = Storage;

  /// 16 samples of 16 channels; of a lane 4 channels of one sample.
  struct Values {
    gpu::Pack4<Storage> of;
  };
  /// 16 inputs of 16 outputs; of a lane 4 inputs of one output.
  struct Weights {
    gpu::Pack4<Storage> of;
  };

  PHYLLO_INLINE static gpu::Pack4<Storage> rounded(float const (&value)[4]) {
    return {{Storage(value[0]), Storage(value[1]), Storage(value[2]), Storage(value[3])}};
  }
  PHYLLO_INLINE static void put(Values& values, int, gpu::Pack4<Storage> const& four) {
    values.of = four;
  }
  PHYLLO_INLINE static Weights weights(gpu::Pack4<Storage> const& four) { return {four}; }

  /// sums += values weights, for all lanes of a wavefront together.
  PHYLLO_INLINE static void multiply([[maybe_unused]] Sums (&sums)[1],
                                     [[maybe_unused]] Values const (&values)[1],
                                     [[maybe_unused]] Weights const (&weights)[1]) {
#if defined(__gfx90a__) || defined(__gfx940__) || defined(__gfx941__) || defined(__gfx942__) || \
    defined(__gfx950__)
    typedef float Float4 __attribute__((ext_vector_type(4)));
    typedef short Short4 __attribute__((ext_vector_type(4)));
    typedef _Float16 Half4 __attribute__((ext_vector_type(4)));
    auto c = Kokkos::bit_cast<Float4>(sums[0]);
    if constexpr (std::is_same_v<Storage, float>) {
      // A lane's input i of four instead of the instruction's i-th quarter of 16: order is free.
      PHYLLO_UNROLL_ON_DEVICE
      for (int i = 0; i < 4; ++i)
        c = __builtin_amdgcn_mfma_f32_16x16x4f32(weights[0].of.value[i], values[0].of.value[i], c,
                                                 0, 0, 0);
    } else if constexpr (std::is_same_v<Storage, bf16>) {
      c = __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(
          Kokkos::bit_cast<Short4>(weights[0]), Kokkos::bit_cast<Short4>(values[0]), c, 0, 0, 0);
    } else {
      c = __builtin_amdgcn_mfma_f32_16x16x16f16(Kokkos::bit_cast<Half4>(weights[0]),
                                                Kokkos::bit_cast<Half4>(values[0]), c, 0, 0, 0);
    }
    sums[0] = Kokkos::bit_cast<Sums>(c);
#endif
  }

  /// 16 rows of samples in scratch memory, of which 16 channels from `rows` on: as values whose
  /// samples are the inputs of the product, for each channel.
  PHYLLO_INLINE static void by_channel(Values (&values)[1], Storage const* rows, int stride,
                                       int lane) {
    gather(values[0].of, rows, stride, lane);
  }
  /// The same as weights whose samples are the inputs of the product, and channels its outputs.
  PHYLLO_INLINE static void by_channel(Weights (&weights)[blocks][1], Storage const* rows,
                                       int stride, int lane) {
    gather(weights[0][0].of, rows, stride, lane);
  }

 private:
  PHYLLO_INLINE static void gather(gpu::Pack4<Storage>& four, Storage const* rows, int stride,
                                   int lane) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i) four.value[i] = rows[(channel(lane) + i) * stride + lane % 16];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::hip
