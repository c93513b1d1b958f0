// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/cuda/wgmma.hpp>
#include <phyllo/backend/gpu/product/packed_weights.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// One layer's weights in scratch memory as wgmma reads them: it is told where 16 inputs of 64 or
/// of 16 outputs begin.
///
/// shape    (in, out) -> [group of inputs][group of outputs][8 outputs][8 inputs][output][input];
///          behind them biases (out) in float
template <class MmaAtom, int In, int Out>
  requires requires { typename MmaAtom::Matrix; }
struct PackedWeights<MmaAtom, In, Out> : PackedWeights<typename MmaAtom::InRegisters, In, Out> {
  using S = typename MmaAtom::storage;
  using Base = PackedWeights<typename MmaAtom::InRegisters, In, Out>;
  using Base::group_size;
  using Base::in_groups;
  using Base::out_groups;
  static constexpr int of_64 =
      out_groups / 4 * 4;  // groups of outputs that are multiplied by fours

  /// sums += values weights, for 16s of samples of each of four warps.
  template <int Tiles, int Widest>
  PHYLLO_INLINE void multiply(
      typename MmaAtom::Sums (&sums)[Tiles][out_groups][MmaAtom::blocks][MmaAtom::emulated_lanes],
      typename MmaAtom::Values (&values)[Tiles][Widest][MmaAtom::emulated_lanes], int) const {
    settle(sums);
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < in_groups; ++k)
        for (int i = 0; i < MmaAtom::emulated_lanes; ++i) MmaAtom::settle(values[m][k][i]);
    }
    MmaAtom::begin_products();
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < in_groups; ++k) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int m = 0; m < Tiles; ++m) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int n = 0; n < of_64; n += 4)
          MmaAtom::multiply_64(&sums[m][n], values[m][k], matrix(k, n));
        PHYLLO_UNROLL_ON_DEVICE
        for (int n = of_64; n < out_groups; ++n)
          MmaAtom::multiply_16(&sums[m][n], values[m][k], matrix(k, n));
      }
    }
    MmaAtom::end_products();
    settle(sums);
  }

  /// What thread `thread` of `threads` writes: four inputs of four outputs at a time.
  PHYLLO_INLINE void pack(S const* weight, S const* bias, int thread, int threads) const {
    constexpr int columns = out_groups * 4, items = in_groups * 4 * columns;
    PHYLLO_ROLLED_ON_DEVICE
    for (int item = thread; item < items; item += threads) {
      int const i = item / columns * 4, o = item % columns * 4;
      S* const group = this->scratch + (i / 16 * out_groups + o / 16) * group_size;
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < 4; ++k) {
        Pack4<S> const four = Base::template row<In, Out>(weight, i + k, o);
        PHYLLO_UNROLL_ON_DEVICE
        for (int c = 0; c < 4; ++c) group[MmaAtom::place(i % 16 + k, o % 16 + c)] = four.value[c];
      }
    }
    Base::pack_bias(bias, thread, threads);
    MmaAtom::publish();
  }

 private:
  template <int Tiles>
  PHYLLO_INLINE static void settle(
      typename MmaAtom::Sums (&sums)[Tiles][out_groups][MmaAtom::blocks][MmaAtom::emulated_lanes]) {
    PHYLLO_UNROLL_ON_DEVICE
    for (int m = 0; m < Tiles; ++m) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < out_groups; ++n) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < MmaAtom::blocks; ++b)
          for (int i = 0; i < MmaAtom::emulated_lanes; ++i) MmaAtom::settle(sums[m][n][b][i]);
      }
    }
  }
  PHYLLO_INLINE typename MmaAtom::Matrix matrix(int k, int n) const {
    return MmaAtom::matrix(
        reinterpret_cast<std::byte const*>(this->scratch + (k * out_groups + n) * group_size));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
