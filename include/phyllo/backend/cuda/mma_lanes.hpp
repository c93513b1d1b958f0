// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <Kokkos_Macros.hpp>

namespace phyllo::inline PHYLLO_ISA::cuda {

/// What the lanes of a warp hold in the matrix instructions m16n8 of NVIDIA's tensor cores, which
/// multiply 16 samples by some inputs with these inputs by 8 outputs.
///
/// The order of inputs inside a group of 16 is free as long as values and weights share it. Here
/// lane t = lane % 4 has the channels 4t to 4t + 3, so that it reads and writes them in one access,
/// and what a layer leaves in a lane is what the next layer wants there.
///
/// source   PTX ISA 8, 9.7.14.5 (matrix fragments of mma.m16n8k8 and mma.m16n8k16)
struct MmaLanes {
  static constexpr int lanes = 32;
  static constexpr int emulated_lanes = 1;   // lanes that one call computes; more in tests on hosts
  static constexpr int blocks = 2;           // of sums in 16 outputs; weights of 8 outputs each
  static constexpr int parts = 2;            // samples of a lane
  static constexpr bool reads_ahead = true;  // in segments: registers hold two tiles
  /// Bytes of scratch memory for a block: what a device of the architecture has, less what the
  /// system takes.
#if defined(KOKKOS_ARCH_AMPERE86) || defined(KOKKOS_ARCH_ADA89) || \
    defined(KOKKOS_ARCH_BLACKWELL120) || defined(KOKKOS_ARCH_BLACKWELL121)
  static constexpr long scratch_budget = 96 * 1024;
#elif defined(KOKKOS_ARCH_HOPPER90)
  static constexpr long scratch_budget = 224 * 1024;
#else
  static constexpr long scratch_budget = 160 * 1024;
#endif

  /// 16 samples of 8 outputs.
  struct Sums {
    float value[4];
  };

  PHYLLO_INLINE static constexpr int sample(int lane, int part) { return lane / 4 + 8 * part; }
  PHYLLO_INLINE static constexpr int channel(int lane) { return lane % 4 * 4; }  // first of four
  /// Who has channels c to c + 3 of a sample of 16, and as which part.
  PHYLLO_INLINE static constexpr int value_lane(int sample, int c) {
    return sample % 8 * 4 + c / 4;
  }
  PHYLLO_INLINE static constexpr int value_part(int sample) { return sample / 8; }
  /// Where the sum of a lane's channel 0 to 3 stands: number of the block, place in it.
  PHYLLO_INLINE static constexpr int sum_block(int c) { return c / 2; }
  PHYLLO_INLINE static constexpr int sum_place(int part, int c) { return 2 * part + c % 2; }
  /// Who has the weight of (input, output) of a group of 16 by 16.
  PHYLLO_INLINE static constexpr int weight_lane(int input, int output) {
    return (output / 4 * 2 + output % 2) * 4 + input / 4;
  }
  PHYLLO_INLINE static constexpr int weight_block(int output) { return output % 4 / 2; }
  /// The output of a group of 16 whose weight a lane has in a block.
  PHYLLO_INLINE static constexpr int weight_output(int lane, int block) {
    return lane / 8 * 4 + block * 2 + lane / 4 % 2;
  }
  /// Of outputs in the order of memory: the first of the four that a lane has after gather_fours.
  PHYLLO_INLINE static constexpr int gathered_channel(int lane) {
    return lane % 2 * 8 + lane % 4 / 2 * 4;
  }
  /// Of products over samples, which are gradients of weights: where place e of a block of sums
  /// stands, in groups of 16 inputs and 16 outputs.
  PHYLLO_INLINE static constexpr int gradient_input(int lane, int e) {
    return lane / 4 + e / 2 * 8;
  }
  PHYLLO_INLINE static constexpr int gradient_output(int lane, int block, int e) {
    return 8 * block + lane % 4 * 2 + e % 2;
  }

  /// Where a compiler must not read further ahead: here the instructions are volatile themselves.
  PHYLLO_INLINE static void keep_order() {}

  /// Hides the index from the optimiser, so that addresses computed from it are not kept in
  /// registers from one tile to the next.
  PHYLLO_INLINE static void opaque([[maybe_unused]] int& index) {
#if PHYLLO_ON_DEVICE
    asm volatile("" : "+r"(index));
#endif
  }
  /// What lanes of a warp wrote to scratch memory is there for the others.
  PHYLLO_INLINE static void synchronize() {
#if PHYLLO_ON_DEVICE
    __syncwarp();
#endif
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::cuda
