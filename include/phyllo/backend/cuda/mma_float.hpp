// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma.hpp>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// Float by the matrix instruction mma.m16n8k8 of TF32 (sm_80 and newer), whose numbers have 11
/// bits: a number is the sum of two, and of the four products of two sums the smallest is left out.
///
/// numerics relative error of a product at most 2^-20; the instruction rounds sums towards zero, so
///          it sums 8 products, and these sums are added in float; an infinity gives a NaN
/// source   Ootomo and Yokota, "Recovering single precision accuracy from Tensor Cores while
///          surpassing the FP32 theoretical peak performance", arXiv:2203.03341
template <> struct Mma<float> : MmaLanes {
  using storage = float;

  /// 16 samples of 16 channels; of a lane two samples of 4 channels.
  struct Values {
    float of[parts][4];
  };
  /// 16 inputs of 8 outputs; of a lane 4 inputs of one output.
  struct Weights {
    float of[4];
  };

  PHYLLO_INLINE static gpu::Pack4<float> rounded(float const (&value)[4]) {
    return {{value[0], value[1], value[2], value[3]}};
  }
  PHYLLO_INLINE static void put(Values& values, int part, gpu::Pack4<float> const& four) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int c = 0; c < 4; ++c) values.of[part][c] = four.value[c];
  }
  PHYLLO_INLINE static Weights weights(gpu::Pack4<float> const& four) {
    return {{four.value[0], four.value[1], four.value[2], four.value[3]}};
  }

  /// sums += values weights: twice 8 of the 16 inputs, of which lane t has 4t + 2s and 4t + 2s + 1
  /// where the instruction numbers them t and t + 4.
  PHYLLO_INLINE static void multiply(Sums (&sums)[1], Values const (&values)[1],
                                     Weights const (&weights)[1]) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int s = 0; s < 2; ++s) {
      Half a[2];
      Column b[2];
      split(values[0], weights[0], s, a, b);
      Sums eight = {};
      multiply_tf32(eight, a[1], b[0]);
      multiply_tf32(eight, a[0], b[1]);
      multiply_tf32(eight, a[0], b[0]);
      PHYLLO_UNROLL_ON_DEVICE
      for (int e = 0; e < 4; ++e) sums[0].value[e] += eight.value[e];
    }
  }

  /// The row in which scratch memory has a sample of 16, so that a quarter of a warp, which reads
  /// or writes four channels of two samples, reaches all banks: these samples are four rows apart.
  PHYLLO_INLINE static constexpr int scratch_row(int sample) {
    return sample / 8 * 8 + sample % 2 * 4 + sample % 8 / 2;
  }
  /// 16 rows of samples in scratch memory, of which 16 channels from `rows` on: as values whose
  /// samples are the inputs of the product, for each channel.
  PHYLLO_INLINE static void by_channel(Values (&values)[1], float const* rows, int stride,
                                       int lane) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int part = 0; part < parts; ++part) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c)
        values[0].of[part][c] = rows[summed_row(lane, c) * stride + sample(lane, part)];
    }
  }
  /// The same as weights whose samples are the inputs of the product, and channels its outputs.
  PHYLLO_INLINE static void by_channel(Weights (&weights)[blocks][1], float const* rows, int stride,
                                       int lane) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int b = 0; b < blocks; ++b) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c)
        weights[b][0].of[c] = rows[summed_row(lane, c) * stride + b * 8 + lane / 4];
    }
  }

 protected:
  struct Half {
    float of[4];  // rows g and g + 8 of inputs t, then of inputs t + 4
  };
  struct Column {
    float of[2];  // inputs t and t + 4 of column g
  };

  // The upper and lower parts of a lane's numbers, of which the instruction multiplies eighths s.
  PHYLLO_INLINE static void split(Values const& values, Weights const& weights, int s, Half (&a)[2],
                                  Column (&b)[2]) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i) {
      float const x = values.of[i % 2][2 * s + i / 2];
      a[0].of[i] = upper(x);
      a[1].of[i] = upper(x - a[0].of[i]);
    }
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 2; ++i) {
      float const w = weights.of[2 * s + i];
      b[0].of[i] = upper(w);
      b[1].of[i] = upper(w - b[0].of[i]);
    }
  }

 private:
  // Of 16 samples that are the inputs of a product, in any order: one in which the lanes of a warp
  // read 32 banks of scratch memory, since rows are four numbers longer than a multiple of 16.
  PHYLLO_INLINE static constexpr int summed_row(int lane, int c) {
    return lane % 4 * 2 + c % 2 + c / 2 * 8;
  }

  // Rounded to the 11 bits that the instruction reads; what is left is exact.
  PHYLLO_INLINE static float upper(float x) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    std::uint32_t bits;
    asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(bits) : "f"(x));
    return Kokkos::bit_cast<float>(bits);
#else
    if (x != x) return x;
    return Kokkos::bit_cast<float>((Kokkos::bit_cast<std::uint32_t>(x) + 0x1000u) & 0xffffe000u);
#endif
  }
  PHYLLO_INLINE static void multiply_tf32([[maybe_unused]] Sums& sums,
                                          [[maybe_unused]] Half const& values,
                                          [[maybe_unused]] Column const& weights) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
    float (&c)[4] = sums.value;
    float const(&a)[4] = values.of;
    float const(&b)[2] = weights.of;
    asm volatile(
        "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 "
        "{%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(Kokkos::bit_cast<std::uint32_t>(a[0])), "r"(Kokkos::bit_cast<std::uint32_t>(a[1])),
          "r"(Kokkos::bit_cast<std::uint32_t>(a[2])), "r"(Kokkos::bit_cast<std::uint32_t>(a[3])),
          "r"(Kokkos::bit_cast<std::uint32_t>(b[0])), "r"(Kokkos::bit_cast<std::uint32_t>(b[1])));
#endif
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda
