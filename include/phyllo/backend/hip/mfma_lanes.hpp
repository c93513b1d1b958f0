// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::hip {

/// What the lanes of a wavefront hold in the matrix instructions v_mfma_f32_16x16 of AMD's matrix
/// cores, which multiply 16 outputs by some inputs with these inputs by 16 samples. With the
/// outputs as rows, a lane's four sums are the four channels of its sample that the next layer
/// wants there.
///
/// source   AMD CDNA 2 instruction set, 7.1 (matrix fragments); AMD matrix instruction calculator
struct MfmaLanes {
  static constexpr int lanes = 64;
  static constexpr int emulated_lanes = 1;  // lanes that one call computes; see MmaLanes
  static constexpr int blocks = 1;          // of sums in 16 outputs
  static constexpr int parts = 1;           // samples of a lane
  // In segments: hipcc 6.4 stores two tiles in memory, and no longer inlines what computes them.
  static constexpr bool reads_ahead = false;
  static constexpr long scratch_budget = 64 * 1024;  // bytes for a block

  /// 16 samples of 16 outputs.
  struct Sums {
    float value[4];
  };

  PHYLLO_INLINE static constexpr int sample(int lane, int) { return lane % 16; }
  PHYLLO_INLINE static constexpr int scratch_row(int sample) { return sample; }
  PHYLLO_INLINE static constexpr int channel(int lane) { return lane / 16 * 4; }  // first of four
  PHYLLO_INLINE static constexpr int value_lane(int sample, int c) { return c / 4 * 16 + sample; }
  PHYLLO_INLINE static constexpr int value_part(int) { return 0; }
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

  /// Where a compiler must not read further ahead: it would take registers for all weights of a
  /// layer.
  PHYLLO_INLINE static void keep_order() {
#if defined(__HIP_DEVICE_COMPILE__)
    __builtin_amdgcn_sched_barrier(0);
#endif
  }
  /// Hides the index from the optimiser, so that addresses computed from it are not kept in
  /// registers from one tile to the next.
  PHYLLO_INLINE static void opaque([[maybe_unused]] int& index) {
#if PHYLLO_ON_DEVICE
    asm volatile("" : "+v"(index));
#endif
  }
  /// What lanes of a wavefront wrote to scratch memory is there for the others.
  PHYLLO_INLINE static void synchronize() { PHYLLO_LANES_MEET(); }
};

}  // namespace phyllo::inline PHYLLO_ISA::hip
