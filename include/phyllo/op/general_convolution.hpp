// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/convolution_shape.hpp>
#include <phyllo/op/contraction.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// What becomes of the sums of a convolution: y = chain(fold(bias + sum)), or y += sum.
template <class Precision> struct ConvolutionResult {
  using storage = typename Precision::storage;
  storage const* bias = nullptr;  // of each channel; nullptr: none
  FoldedNormalization<Precision> fold;
  storage* y = nullptr;
  storage* saved = nullptr;  // the chain's input, for the backward pass; or nullptr
  Randomness random = {};
  bool accumulate = false;  // y += sum; there is neither bias nor chain then
};

/// Convolutions with dilated taps, groups of channels and any border, and transposed ones: either
/// is the gradient of the other. Plain ones are op::Contraction.
///
/// shape    image (N, S, C) · grid (N, S', C') · weight (taps, C / groups, C'), all row-major
/// numerics sums in the accumulation type, in an order that no number of threads changes
/// cost     2 N S' taps C C' / groups flop
/// source   Dumoulin and Visin, "A guide to convolution arithmetic for deep learning", 2016
template <class Chain> struct GeneralConvolution {
  using chain = Chain;
  static constexpr int row_blocks = 64;  // of sums over a batch

  template <class Precision> struct Operands {
    int batch = 0;
    ConvolutionShape shape;
    typename Precision::storage const* x = nullptr;
    typename Precision::storage const* weight = nullptr;
    ConvolutionResult<Precision> result;
    WorkMemory memory = {};
  };
  /// The grid from the image: sum over taps t and channels c of the group of x[n, p(q, t), c]
  /// weight[t, c, o].
  template <class Precision> struct Gather : Operands<Precision> {};
  /// The image from the grid: sum over the windows q and taps t that read p, and over channels o of
  /// the group, of x[n, q, o] weight[t, c, o].
  template <class Precision> struct Spread : Operands<Precision> {};

  /// d_weight[t, c, o] = sum over n, q of image[n, p(q, t), c] grid[n, q, o]; d_bias: the sums of
  /// the gradient, which is the grid, or the image of a transposed convolution.
  template <class Precision> struct BackwardParameters {
    using accumulate = typename Precision::accumulate;
    int batch = 0;
    ConvolutionShape shape;
    typename Precision::storage const* image = nullptr;
    typename Precision::storage const* grid = nullptr;
    accumulate* d_weight = nullptr;  // written
    accumulate* d_bias = nullptr;    // written; nullptr: none
    bool transposed = false;
    accumulate* partial = nullptr;  // workspace (work_count)
    WorkMemory memory = {};

    typename Precision::storage const* gradient() const { return transposed ? image : grid; }
    Shape const& gradient_shape() const { return transposed ? shape.image : shape.grid; }
  };

  /// Whether groups are so narrow that kernels may sum their weights by blocks of the batch.
  static constexpr bool is_narrow(ConvolutionShape const& s) {
    return s.groups > 1 && s.image_channels() <= 32 && s.grid_channels() <= 32 &&
           s.weights() <= (1 << 18);
  }
  static constexpr int weight_blocks = 16;  // of the sums of their weights

  /// Numbers of a workspace: partial sums of the biases, and of the weights of narrow groups.
  static constexpr long work_count(ConvolutionShape const& s) {
    long const channels = s.image.channels > s.grid.channels ? s.image.channels : s.grid.channels;
    long const biases = row_blocks * channels;
    long const weights = is_narrow(s) ? weight_blocks * s.weights() : 0;
    return biases > weights ? biases : weights;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::op
