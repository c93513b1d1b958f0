// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/resample_axis.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Linear or cubic interpolation of every channel along the spatial axes: y[n, q, c] = sum over the
/// taps p of q of w_depth w_height w_width x[n, p, c]. A tap beyond the border reads the outermost
/// number.
///
/// shape    x (N, S, C) -> y (N, S', C)
/// numerics sums in the type of sums, over taps in rising order
/// cost     one read for each tap, most of them from the cache; the backward pass gathers, so
///          that it needs no atomics
struct Resample {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0, channels = 0;
    ResampleAxes axes;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  /// d_x[n, p, c] (+)= sum over the results q that p is part of, in rising order, of its weight
  /// times d_y[n, q, c].
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0, channels = 0;
    ResampleAxes axes;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
