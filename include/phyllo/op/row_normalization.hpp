// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Normalisation over the channels of each position, with an epilogue: y = chain(z), z = x_hat
/// scale[c] + shift[c], x_hat = (x - mean) inverse_deviation. With `centered` (LayerNorm) mean and
/// deviation are those of the row; without (RMSNorm) the mean is zero and the deviation is the root
/// of the mean square.
///
/// shape    x, y (rows, C) with rows = N times positions; scale, shift (C); statistics (rows, 2):
///          mean, inverse deviation
/// numerics two passes: the mean first, then centred squares; inverse_deviation =
///          1 / sqrt(mean of the squares + epsilon). Sums over rows by blocks whose number follows
///          from the number of rows alone
/// cost     forward: one read, one write of memory; backward: two reads, one write
/// source   Ba, Kiros and Hinton, "Layer Normalization", arXiv:1607.06450; Zhang and Sennrich,
///          "Root Mean Square Layer Normalization", NeurIPS 2019
template <class Chain> struct RowNormalization {
  using chain = Chain;
  static constexpr int row_blocks = 256;  // partial sums of a channel, at most
  static constexpr int block_rows = 16;   // rows of a block, at least

  /// Blocks that the rows are cut into: block b begins at row rows * b / blocks.
  static int blocks_of(long rows) {
    long const blocks = (rows + block_rows - 1) / block_rows;
    return int(blocks < row_blocks ? blocks : row_blocks);
  }

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    bool centered = true;
    storage const* x = nullptr;
    storage const* scale = nullptr;  // nullptr: one
    storage const* shift = nullptr;  // nullptr: zero
    accumulate epsilon = 0;
    storage* y = nullptr;
    accumulate* statistics = nullptr;  // for the backward pass; nullptr: not kept
    Randomness random = {};
  };

  /// With g = d_y chain'(z), z recomputed from x, and h = g scale:
  /// d_x (+)= inverse_deviation (h - mean_c(h) - x_hat mean_c(h x_hat)), without mean_c(h) where
  /// nothing is centred; d_scale = sum over rows of g x_hat; d_shift = sum over rows of g.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0;
    bool centered = true;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    storage const* scale = nullptr;  // as in the forward pass
    storage const* shift = nullptr;
    accumulate const* statistics = nullptr;
    storage* d_x = nullptr;  // may be d_y; nullptr: not computed
    bool accumulate_gradient = false;
    accumulate* partial = nullptr;  // workspace (row_blocks, 2 C), not read without the next two
    accumulate* d_scale = nullptr;  // (C), written; nullptr: not computed
    accumulate* d_shift = nullptr;  // (C), written; nullptr: not computed
    Randomness random = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
