// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/mma_float.hpp>
#include <phyllo/backend/cuda/wgmma_weights.hpp>

#include <cstddef>
#include <cstdint>
#include <utility>

namespace phyllo::test {

/// cuda::Mma on a host: one call computes all lanes of a warp, by the tables of the manual.
///
/// options  Storage = bf16 | fp16 | float
/// source   PTX ISA 8, 9.7.14.5 (matrix fragments of mma.m16n8k8 and mma.m16n8k16)
template <class Storage> struct EmulatedMma : cuda::Mma<Storage> {
  using Device = cuda::Mma<Storage>;
  using typename Device::Sums;
  using typename Device::Values;
  using typename Device::Weights;
  static constexpr int lanes = Device::lanes, emulated_lanes = lanes, blocks = Device::blocks;

  static gpu::Pack4<Storage> rounded(float const (&value)[4]) {
    return {{Storage(value[0]), Storage(value[1]), Storage(value[2]), Storage(value[3])}};
  }
  static gpu::Pack4<Storage> rounded_rectified(float const (&value)[4]) {
    gpu::Pack4<Storage> four;
    for (int i = 0; i < 4; ++i) four.value[i] = Storage(value[i] <= 0 ? 0.0f : value[i]);
    return four;
  }

  static void multiply(Sums (&sums)[lanes], Values const (&values)[lanes],
                       Weights const (&weights)[lanes]) {
    float a[16][16], b[16][8];
    for (int lane = 0; lane < lanes; ++lane) {
      read_values(a, values[lane], lane);
      for (int i = 0; i < 4; ++i)
        b[lane % 4 * 2 + i % 2 + (i >= 2) * 8][lane / 4] =
            half_of(weights[lane].pair[i / 2], i % 2);
    }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 16; ++k)
          sums[lane].value[i] += a[lane / 4 + (i / 2) * 8][k] * b[k][lane % 4 * 2 + i % 2];
  }
  /// Values of a lane as rows of the instruction's left matrix.
  static void read_values(float (&a)[16][16], Values const& values, int lane) {
    for (int i = 0; i < 8; ++i)
      a[lane / 4 + i / 2 % 2 * 8][lane % 4 * 2 + i % 2 + (i >= 4) * 8] =
          half_of(values.pair[i / 2], i % 2);
  }

  // Copies end at once.
  static void copy_chunk(Storage* to, Storage const* from, Storage const*) {
    for (int i = 0; i < 8; ++i) to[i] = from != nullptr ? from[i] : Storage(0.0f);
  }
  static void commit_copies() {}
  template <int Groups> static void wait_for_copies() {}
  static void transposed(Values (&values)[lanes], Storage const* const (&row)[lanes]) {
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < 8; ++i)
        set_half(values[l].pair[i / 2], i % 2, row[i / 2 * 8 + l % 4 * 2 + i % 2][l / 4]);
  }
  static void transposed(Weights (&weights)[blocks][lanes], Storage const* const (&row)[lanes]) {
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < 8; ++i)
        set_half(weights[i / 4][l].pair[i / 2 % 2], i % 2,
                 row[i / 2 * 8 + l % 4 * 2 + i % 2][l / 4]);
  }
  static void gather_fours(Sums (&sums)[blocks][lanes]) {
    for (int l = 0; l < lanes; l += 2)
      for (int e = 0; e < 4; ++e) std::swap(sums[1][l].value[e], sums[0][l + 1].value[e]);
  }

  static void by_channel(Values (&values)[lanes], Storage const* rows, int stride, int) {
    for (int l = 0; l < lanes; ++l)
      for (int i = 0; i < 8; ++i)
        set_half(values[l].pair[i / 2], i % 2,
                 rows[(l % 4 * 2 + i % 2 + (i >= 4) * 8) * stride + l / 4 + i / 2 % 2 * 8]);
  }
  static void by_channel(Weights (&weights)[blocks][lanes], Storage const* rows, int stride, int) {
    for (int l = 0; l < lanes; ++l)
      for (int b = 0; b < blocks; ++b)
        for (int i = 0; i < 4; ++i)
          set_half(weights[b][l].pair[i / 2], i % 2,
                   rows[(l % 4 * 2 + i % 2 + (i >= 2) * 8) * stride + b * 8 + l / 4]);
  }

 private:
  static float half_of(std::uint32_t pair, int high) {
    return float(Storage::from_bits(std::uint16_t(pair >> (16 * high))));
  }
  static void set_half(std::uint32_t& pair, int high, Storage value) {
    pair = (pair & (high ? 0xffffu : 0xffff0000u)) | std::uint32_t(value.bits()) << (16 * high);
  }
};

template <> struct EmulatedMma<float> : cuda::Mma<float> {
  using Device = cuda::Mma<float>;
  static constexpr int emulated_lanes = lanes;

  static void multiply(Sums (&sums)[lanes], Values const (&values)[lanes],
                       Weights const (&weights)[lanes]) {
    for (int s = 0; s < 2; ++s) {
      Half a[lanes][2];
      Column b[lanes][2];
      for (int l = 0; l < lanes; ++l) split(values[l], weights[l], s, a[l], b[l]);
      Sums eight[lanes] = {};
      multiply_tf32(eight, a, 1, b, 0);
      multiply_tf32(eight, a, 0, b, 1);
      multiply_tf32(eight, a, 0, b, 0);
      for (int l = 0; l < lanes; ++l)
        for (int e = 0; e < 4; ++e) sums[l].value[e] += eight[l].value[e];
    }
  }

  static void by_channel(Values (&values)[lanes], float const* rows, int stride, int lane) {
    for (int l = 0; l < lanes; ++l) {
      Values of_lane[1];
      Device::by_channel(of_lane, rows, stride, lane + l);
      values[l] = of_lane[0];
    }
  }
  static void by_channel(Weights (&weights)[blocks][lanes], float const* rows, int stride,
                         int lane) {
    for (int l = 0; l < lanes; ++l) {
      Weights of_lane[blocks][1];
      Device::by_channel(of_lane, rows, stride, lane + l);
      for (int b = 0; b < blocks; ++b) weights[b][l] = of_lane[b][0];
    }
  }

 private:
  static void multiply_tf32(Sums (&sums)[lanes], Half const (&values)[lanes][2], int part,
                            Column const (&weights)[lanes][2], int part_of_weights) {
    float a[16][8], b[8][8];
    for (int lane = 0; lane < lanes; ++lane) {
      for (int i = 0; i < 4; ++i)
        a[lane / 4 + i % 2 * 8][lane % 4 + i / 2 * 4] = values[lane][part].of[i];
      for (int i = 0; i < 2; ++i)
        b[lane % 4 + i * 4][lane / 4] = weights[lane][part_of_weights].of[i];
    }
    for (int lane = 0; lane < lanes; ++lane)
      for (int i = 0; i < 4; ++i)
        for (int k = 0; k < 8; ++k)
          sums[lane].value[i] += a[lane / 4 + i / 2 * 8][k] * b[k][lane % 4 * 2 + i % 2];
  }
};

/// cuda::Wgmma on a host: one warp's quarter of the instruction.
///
/// options  Storage = bf16 | fp16
/// source   PTX ISA 8, 9.7.15.5 (wgmma: fragments, matrices in shared memory)
template <class Storage> struct EmulatedWgmma : cuda::Wgmma<Storage> {
  using Device = cuda::Wgmma<Storage>;
  using InRegisters = EmulatedMma<Storage>;
  using Matrix = std::byte const*;
  using typename Device::Sums;
  using typename Device::Values;
  static constexpr int lanes = Device::lanes, emulated_lanes = lanes, blocks = Device::blocks;

  static gpu::Pack4<Storage> rounded(float const (&value)[4]) {
    return InRegisters::rounded(value);
  }
  static gpu::Pack4<Storage> rounded_rectified(float const (&value)[4]) {
    return InRegisters::rounded_rectified(value);
  }
  static Matrix matrix(std::byte const* first) { return first; }
  static void multiply_64(Sums (*sums)[blocks][lanes], Values const (&values)[lanes],
                          Matrix weights) {
    multiply_groups(sums, 4, values, weights);
  }
  static void multiply_16(Sums (*sums)[blocks][lanes], Values const (&values)[lanes],
                          Matrix weights) {
    multiply_groups(sums, 1, values, weights);
  }

 private:
  // Groups of 16 outputs.
  static void multiply_groups(Sums (*sums)[blocks][lanes], int groups,
                              Values const (&values)[lanes], Matrix weights) {
    float a[16][16];
    for (int lane = 0; lane < lanes; ++lane) InRegisters::read_values(a, values[lane], lane);
    for (int n = 0; n < groups * 16; ++n)
      for (int row = 0; row < 16; ++row) {
        int const lane = row % 8 * 4 + n % 8 / 2;
        float& sum = sums[n / 16][n / 8 % 2][lane].value[row / 8 * 2 + n % 2];
        for (int k = 0; k < 16; ++k)
          sum += a[row][k] * float(*reinterpret_cast<Storage const*>(
                                 weights + n / 8 * Device::next_outputs +
                                 k / 8 * Device::next_inputs + n % 8 * 16 + k % 8 * 2));
      }
  }
};

}  // namespace phyllo::test
