// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/window.hpp>
#include <phyllo/op/affine.hpp>
#include <phyllo/op/chain.hpp>
#include <phyllo/op/work_memory.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Batch normalisation of inference folded into the epilogue of a contraction:
/// y = (x - mean) / sqrt(variance + epsilon) * scale + shift, per channel.
template <class Precision> struct FoldedNormalization {
  float const* mean = nullptr;                         // (C'), nullptr: nothing is folded
  float const* variance = nullptr;                     // (C')
  typename Precision::storage const* scale = nullptr;  // (C'); nullptr: one
  typename Precision::storage const* shift = nullptr;  // (C'); nullptr: zero
  typename Precision::accumulate epsilon = 0;
};

/// Linear and convolution as one family, with an epilogue:
/// y[n, q, o] = chain(fold(bias[o] + sum over taps t and channels c of x[n, p(q, t), c] weight[t,
/// c, o])).
///
/// shape    x (N, S, C) · weight (taps, C, C') · bias (C') · y (N, S', C'); all row-major; S are
///          the positions of input.spatial, S' those of output.spatial; a tap outside reads zero
/// numerics sums run over (tap, channel) in rising order, in the accumulation type, bias first
/// cost     2 N S' taps C C' flop
template <class Chain> struct Contraction {
  using chain = Chain;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;  // C and S, C' and S'
    Window window;
    storage const* x = nullptr;
    storage const* weight = nullptr;
    storage const* bias = nullptr;  // nullptr: none
    FoldedNormalization<Precision> fold;
    storage* y = nullptr;
    storage* saved = nullptr;  // (N, S', C') the chain's input, for the backward pass; or nullptr
    Randomness random = {};
    bool same_in_any_batch = false;  // a sample's bits do not depend on the size of its batch
    WorkMemory memory = {};
  };

  /// d_x[n, p, c] (+)= sum over taps t and outputs o of d_z[n, q, o] weight[t, c, o]; d_z is the
  /// gradient at the chain's input (op::Pointwise turns d_y into d_z, in place).
  template <class Precision> struct BackwardInput {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;
    Window window;
    storage const* d_z = nullptr;     // (N, S', C')
    storage const* weight = nullptr;  // (taps, C, C')
    storage* d_x = nullptr;           // (N, S, C)
    bool accumulate = false;          // add to d_x instead of writing it
    WorkMemory memory = {};
  };

  /// d_weight[t, c, o] = sum over n, q of x[n, p(q, t), c] d_z[n, q, o]; d_bias[o] = sum of d_z.
  template <class Precision> struct BackwardParameters {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    int batch = 0;
    Shape input, output;
    Window window;
    storage const* x = nullptr;      // (N, S, C)
    storage const* d_z = nullptr;    // (N, S', C')
    accumulate* d_weight = nullptr;  // (taps, C, C'), written
    accumulate* d_bias = nullptr;    // (C'), written; nullptr: none
    accumulate* partial = nullptr;   // workspace (KernelTraits::partial_count); nullptr: none
    WorkMemory memory = {};
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
