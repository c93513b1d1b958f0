// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/product/pack4.hpp>
#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// One layer's weights in scratch memory as fragments of the matrix instruction: a lane reads those
/// of 16 inputs and 16 outputs in accesses of at most 16 bytes, each next to those of its
/// neighbours.
///
/// shape    (in, out) -> [group of inputs][group of outputs][lane][block][4 inputs], where a lane's
///          blocks are more than 16 bytes [block][lane]; behind them biases (out) in float
template <class MmaAtom, int In, int Out> struct PackedWeights {
  using S = typename MmaAtom::storage;
  static constexpr int in_groups = (In + 15) / 16, out_groups = (Out + 15) / 16;
  static constexpr int group_size = MmaAtom::lanes * MmaAtom::blocks * 4;
  static constexpr int size = in_groups * out_groups * group_size;
  /// Blocks that a lane reads in one access.
  static constexpr int together = MmaAtom::blocks * 4 * int(sizeof(S)) <= 16 ? MmaAtom::blocks : 1;

  /// Weights of 16 inputs and 16 outputs, of one lane.
  struct Group {
    struct alignas(together * 4 * sizeof(S)) Part {
      Pack4<S> block[together];
    };
    Part part[MmaAtom::blocks / together];

    PHYLLO_INLINE Pack4<S> const& block(int b) const {
      return part[b / together].block[b % together];
    }
  };

  S* scratch;

  PHYLLO_INLINE Group group(int k, int n, int lane) const {
    auto const* const parts = reinterpret_cast<typename Group::Part const*>(scratch) +
                              (k * out_groups + n) * (group_size / (together * 4)) + lane;
    Group of_lane;
    PHYLLO_UNROLL_ON_DEVICE
    for (int p = 0; p < MmaAtom::blocks / together; ++p)
      of_lane.part[p] = parts[p * MmaAtom::lanes];
    return of_lane;
  }
  PHYLLO_INLINE float bias(int output) const {
    return reinterpret_cast<float const*>(scratch + size)[output];
  }

  /// sums += values weights, for 16s of samples.
  template <int Tiles, int Widest>
  PHYLLO_INLINE void multiply(
      typename MmaAtom::Sums (&sums)[Tiles][out_groups][MmaAtom::blocks][MmaAtom::emulated_lanes],
      typename MmaAtom::Values const (&values)[Tiles][Widest][MmaAtom::emulated_lanes],
      int first_lane) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < in_groups; ++k) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < out_groups; ++n) {
        typename MmaAtom::Weights fragment[MmaAtom::blocks][MmaAtom::emulated_lanes];
        for (int i = 0; i < MmaAtom::emulated_lanes; ++i) {
          Group const of_lane = group(k, n, first_lane + i);
          PHYLLO_UNROLL_ON_DEVICE
          for (int b = 0; b < MmaAtom::blocks; ++b)
            fragment[b][i] = MmaAtom::weights(of_lane.block(b));
        }
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < MmaAtom::blocks; ++b) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int m = 0; m < Tiles; ++m)
            MmaAtom::multiply(sums[m][n][b], values[m][k], fragment[b]);
        }
      }
      MmaAtom::keep_order();
    }
  }
  /// Sums that begin with the biases.
  template <int Tiles>
  PHYLLO_INLINE void begin(
      typename MmaAtom::Sums (&sums)[Tiles][out_groups][MmaAtom::blocks][MmaAtom::emulated_lanes],
      int first_lane) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < out_groups; ++n) {
      for (int i = 0; i < MmaAtom::emulated_lanes; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int c = 0; c < 4; ++c) {
          float const start = bias(n * 16 + MmaAtom::channel(first_lane + i) + c);
          PHYLLO_UNROLL_ON_DEVICE
          for (int m = 0; m < Tiles; ++m) {
            PHYLLO_UNROLL_ON_DEVICE
            for (int part = 0; part < MmaAtom::parts; ++part)
              sums[m][n][MmaAtom::sum_block(c)][i].value[MmaAtom::sum_place(part, c)] = start;
          }
        }
      }
    }
  }

  /// What thread `thread` of `threads` writes: four inputs of four outputs at a time. Threads side
  /// by side write the places of lanes side by side.
  PHYLLO_INLINE void pack(S const* weight, S const* bias, int thread, int threads) const {
    constexpr int columns = out_groups * 4, items = in_groups * 4 * columns;
    PHYLLO_ROLLED_ON_DEVICE
    for (int item = thread; item < items; item += threads) {
      int const i = (item / (4 * columns) * 4 + item % 4) * 4, o = item / 4 % columns * 4;
      Pack4<S> four[4];
      PHYLLO_UNROLL_ON_DEVICE
      for (int k = 0; k < 4; ++k) four[k] = row<In, Out>(weight, i + k, o);
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c)
        place(i,
              o + c) = {{four[0].value[c], four[1].value[c], four[2].value[c], four[3].value[c]}};
    }
    pack_bias(bias, thread, threads);
  }
  /// The same of weights (out, in) as memory has them: of a product with the transposed matrix,
  /// which is that of gradients by a layer's inputs.
  PHYLLO_INLINE void pack_transposed(S const* weight, int thread, int threads) const {
    constexpr int columns = in_groups * 4, items = out_groups * 16 * columns;
    PHYLLO_ROLLED_ON_DEVICE
    for (int item = thread; item < items; item += threads) {
      int const o = item / columns, i = item % columns * 4;
      place(i, o) = row<Out, In>(weight, o, i);
    }
  }

 protected:
  PHYLLO_INLINE void pack_bias(S const* bias, int thread, int threads) const {
    auto* const sums = reinterpret_cast<float*>(scratch + size);
    for (int o = thread; o < out_groups * 16; o += threads)
      sums[o] = bias != nullptr && o < Out ? float(bias[o]) : 0.0f;
  }

  // Columns c to c + 3 of row r of (Rows, Columns); beyond the matrix zero. Tensors of the arena
  // begin at 64 bytes.
  template <int Rows, int Columns>
  PHYLLO_INLINE static Pack4<S> row(S const* weight, int r, int c) {
    if (Columns % 4 == 0 && r < Rows && c < Columns)
      return *reinterpret_cast<Pack4<S> const*>(weight + r * Columns + c);
    Pack4<S> four;
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      four.value[i] = r < Rows && c + i < Columns ? weight[r * Columns + c + i] : S{};
    return four;
  }

 private:
  // Inputs i to i + 3 of output o.
  PHYLLO_INLINE Pack4<S>& place(int i, int o) const {
    int const lane = MmaAtom::weight_lane(i % 16, o % 16), block = MmaAtom::weight_block(o % 16);
    int const at = (block / together * MmaAtom::lanes + lane) * together + block % together;
    return *reinterpret_cast<Pack4<S>*>(scratch + (i / 16 * out_groups + o / 16) * group_size +
                                        at * 4);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
