// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Backward pass of a segment inside a network: from the gradient of its result to the gradients of
/// its parameters and, where it is wanted, of its input. Its values are computed again from x, tile
/// by tile, so that nothing but x is kept from the forward pass (decision 0009).
///
/// shape    x (N, first in), d_y (N, last out), d_x (N, first in), row-major; images channels-last
/// state    as a segment. The gradients of the parameters are written, those of its input written
///          or added to
/// numerics random masks are those of the forward pass; pieces of a batch as in WholeStep
/// cost     forward once more; memory traffic is x, d_y, d_x and a row of gradients for each piece
template <class Segment> struct SegmentBackward {
  using segment = Segment;
  static constexpr int blocks = 16;

  template <class Precision> struct Run {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    typename Segment::template Forward<Precision> forward;  // y unused
    storage const* d_y = nullptr;
    storage* d_x = nullptr;            // nullptr: nobody reads it
    bool accumulate_gradient = false;  // of d_x: added to what is there
    // The parameters of the segment, contiguous in the arena: elements.
    int parameter_first = 0;
    int parameter_count = 0;
    accumulate* partial = nullptr;    // workspace (rows, parameter_count)
    accumulate* gradients = nullptr;  // the arena; the segment's own elements are written
    int rows = 0;                     // of the workspace, at least `blocks`
  };
};

/// A SegmentBackward whose result only a batch normalisation reads that begins the next segment:
/// d_y is the gradient behind it, from which each tile computes that of its rows.
///
/// numerics as op::Normalization::Backward
template <class Segment> struct NormalizedSegmentBackward {
  using segment = Segment;
  static constexpr int blocks = SegmentBackward<Segment>::blocks;

  template <class Precision>
  struct Run : SegmentBackward<Segment>::template Run<Precision>, BatchStatistics<Precision, true> {
    using storage = typename Precision::storage;
    using accumulate = typename Precision::accumulate;
    storage const* y = nullptr;        // (N, last out), of the forward pass
    storage const* scale = nullptr;    // of the normalisation (C)
    accumulate const* sums = nullptr;  // (2 C): of the gradients d_y, and of their products
  };
};

/// Whether a backward pass begins with a loss (WholeStep) or with the caller's gradient.
template <class Op> inline constexpr bool has_loss = requires { typename Op::loss; };

}  // namespace phyllo::inline PHYLLO_ISA::op
