// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/chain.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Normalisation over groups of channels and all positions of a sample, with an epilogue:
/// y = chain(z), z = x_hat scale[c] + shift[c], x_hat = (x - mean) inverse_deviation. Mean and
/// deviation are those of the sample's group, of M = positions C / groups numbers.
///
/// shape    x, y (N, positions, C); scale, shift (C); statistics (N, groups, 2): mean, inverse
///          deviation; groups divides C
/// numerics mean first, then centred squares; inverse_deviation = 1 / sqrt(biased variance +
///          epsilon). Sums over samples by blocks whose number follows from the extents alone
/// cost     forward: two reads, one write; backward: four reads, one write; the second half of the
///          reads from a cache where it holds a sample's groups
/// source   Wu and He, "Group Normalization", ECCV 2018; Ulyanov, Vedaldi and Lempitsky, "Instance
///          Normalization", arXiv:1607.08022
template <class Chain> struct GroupNormalization {
  using chain = Chain;
  static constexpr int sample_blocks = 256;   // partial sums of a channel, at most
  static constexpr int block_positions = 16;  // positions of a block, at least

  /// Blocks that the samples are cut into: block b begins at sample batch * b / blocks.
  static int blocks_of(int batch, int positions) {
    long const least = (long(batch) * positions + block_positions - 1) / block_positions;
    long const blocks = least < batch ? least : batch;
    return int(blocks < sample_blocks ? blocks : sample_blocks);
  }

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0, groups = 1;
    storage const* x = nullptr;
    storage const* scale = nullptr;  // nullptr: one
    storage const* shift = nullptr;  // nullptr: zero
    accumulate epsilon = 0;
    storage* y = nullptr;
    accumulate* statistics = nullptr;  // for the backward pass; nullptr: not kept
    Randomness random = {};
  };

  /// With g = d_y chain'(z), z recomputed from x, and h = g scale, means over a sample's group:
  /// d_x (+)= inverse_deviation (h - mean(h) - x_hat mean(h x_hat));
  /// d_scale = sum over samples and positions of g x_hat; d_shift = the same sum of g.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0, positions = 0, channels = 0, groups = 1;
    storage const* x = nullptr;
    storage const* d_y = nullptr;
    storage const* scale = nullptr;  // as in the forward pass
    storage const* shift = nullptr;
    accumulate const* statistics = nullptr;
    storage* d_x = nullptr;  // may be d_y; nullptr: not computed
    bool accumulate_gradient = false;
    accumulate* partial = nullptr;  // workspace (sample_blocks, 2 C), not read without the next two
    accumulate* d_scale = nullptr;  // (C), written; nullptr: not computed
    accumulate* d_shift = nullptr;  // (C), written; nullptr: not computed
    Randomness random = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
