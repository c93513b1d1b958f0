// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::gpu {

/// One layer's weights in scratch memory as fragments of the matrix instruction: a lane reads those
/// of 16 inputs and 16 outputs in one access, next to those of its neighbours.
///
/// shape    (in, out) -> [group of inputs][group of outputs][lane][block][pair]; behind them (out)
template <class Unit, int In, int Out> struct PackedWeights {
  using S = typename Unit::storage;
  static constexpr int in_groups = (In + 15) / 16, out_groups = (Out + 15) / 16;
  static constexpr int pairs = 2;  // of inputs, in a fragment of a lane
  static constexpr int group_words = Unit::lanes * Unit::blocks * pairs;
  static constexpr int words = in_groups * out_groups * group_words;

  /// Weights of 16 inputs and 16 outputs, of one lane.
  struct alignas(Unit::blocks * pairs * 4) Group {
    typename Unit::Weights block[Unit::blocks];
  };

  std::uint32_t* scratch;

  PHYLLO_INLINE Group group(int k, int n, int lane) const {
    return reinterpret_cast<Group const*>(scratch)[(k * out_groups + n) * Unit::lanes + lane];
  }
  PHYLLO_INLINE float bias(int output) const {
    return reinterpret_cast<float const*>(scratch + words)[output];
  }

  /// sums += values weights, for 16s of samples.
  template <int Tiles, int Widest>
  PHYLLO_INLINE void multiply(
      typename Unit::Sums (&sums)[Tiles][out_groups][Unit::blocks][Unit::here],
      typename Unit::Values const (&values)[Tiles][Widest][Unit::here], int first_lane) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int k = 0; k < in_groups; ++k) {
      PHYLLO_UNROLL_ON_DEVICE
      for (int n = 0; n < out_groups; ++n) {
        typename Unit::Weights fragment[Unit::blocks][Unit::here];
        for (int i = 0; i < Unit::here; ++i) {
          Group const of_lane = group(k, n, first_lane + i);
          PHYLLO_UNROLL_ON_DEVICE
          for (int b = 0; b < Unit::blocks; ++b) fragment[b][i] = of_lane.block[b];
        }
        PHYLLO_UNROLL_ON_DEVICE
        for (int b = 0; b < Unit::blocks; ++b) {
          PHYLLO_UNROLL_ON_DEVICE
          for (int m = 0; m < Tiles; ++m) Unit::multiply(sums[m][n][b], values[m][k], fragment[b]);
        }
      }
      Unit::keep_order();
    }
  }
  /// Sums that begin with the biases.
  template <int Tiles>
  PHYLLO_INLINE void begin(typename Unit::Sums (&sums)[Tiles][out_groups][Unit::blocks][Unit::here],
                           int first_lane) const {
    PHYLLO_UNROLL_ON_DEVICE
    for (int n = 0; n < out_groups; ++n) {
      for (int i = 0; i < Unit::here; ++i) {
        PHYLLO_UNROLL_ON_DEVICE
        for (int c = 0; c < 4; ++c) {
          float const start = bias(n * 16 + Unit::channel(first_lane + i) + c);
          PHYLLO_UNROLL_ON_DEVICE
          for (int m = 0; m < Tiles; ++m) {
            PHYLLO_UNROLL_ON_DEVICE
            for (int part = 0; part < Unit::parts; ++part)
              sums[m][n][Unit::sum_block(c)][i].value[Unit::sum_place(part, c)] = start;
          }
        }
      }
    }
  }

  /// What thread `thread` of `threads` writes: two inputs of four outputs at a time.
  PHYLLO_INLINE void pack(S const* weight, S const* bias, int thread, int threads) const {
    constexpr int columns = out_groups * 4, items = in_groups * 8 * columns;
    PHYLLO_ROLLED_ON_DEVICE
    for (int item = thread; item < items; item += threads) {
      int const i = item / columns * 2, o = item % columns * 4;
      Four const low = row<In, Out>(weight, i, o), high = row<In, Out>(weight, i + 1, o);
      PHYLLO_UNROLL_ON_DEVICE
      for (int c = 0; c < 4; ++c) {
        int const lane = Unit::weight_lane(i % 16, o % 16 + c);
        int const block = Unit::weight_block(o % 16 + c);
        int const at = (i / 16 * out_groups + o / 16) * group_words +
                       (lane * Unit::blocks + block) * pairs + i % 4 / 2;
        scratch[at] = std::uint32_t(low.value[c].bits()) | std::uint32_t(high.value[c].bits())
                                                               << 16;
      }
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
      Four const four = row<Out, In>(weight, o, i);
      int const lane = Unit::weight_lane(i % 16, o % 16), block = Unit::weight_block(o % 16);
      int const at =
          (i / 16 * out_groups + o / 16) * group_words + (lane * Unit::blocks + block) * pairs;
      PHYLLO_UNROLL_ON_DEVICE
      for (int p = 0; p < 2; ++p)
        scratch[at + p] = std::uint32_t(four.value[2 * p].bits()) |
                          std::uint32_t(four.value[2 * p + 1].bits()) << 16;
    }
  }

 private:
  struct alignas(8) Four {
    S value[4];
  };
  PHYLLO_INLINE void pack_bias(S const* bias, int thread, int threads) const {
    auto* const sums = reinterpret_cast<float*>(scratch + words);
    for (int o = thread; o < out_groups * 16; o += threads)
      sums[o] = bias != nullptr && o < Out ? float(bias[o]) : 0.0f;
  }

  // Columns c to c + 3 of row r of (Rows, Columns); beyond the matrix zero. Tensors of the arena
  // begin at 64 bytes.
  template <int Rows, int Columns> PHYLLO_INLINE static Four row(S const* weight, int r, int c) {
    Four four;
    if (Columns % 4 == 0 && r < Rows && c < Columns)
      return *reinterpret_cast<Four const*>(weight + r * Columns + c);
    PHYLLO_UNROLL_ON_DEVICE
    for (int i = 0; i < 4; ++i)
      four.value[i] = r < Rows && c + i < Columns ? weight[r * Columns + c + i] : S::from_bits(0);
    return four;
  }
};

}  // namespace phyllo::gpu
