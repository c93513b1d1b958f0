// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

enum class PoolingKind { maximum, average };

/// Maximum or mean over a window, per channel.
///
/// shape    x (N, S, C) -> y (N, S', C); the padding is less than the window, so that every window
///          holds an input position
/// numerics a maximum passes a not-a-number on; its gradient goes to the first maximal tap in
///          row-major order; a mean divides by all taps, padding included
/// cost     one read per tap; the backward pass gathers, so that it needs no atomics
template <PoolingKind Kind> struct Pooling {
  static constexpr PoolingKind kind = Kind;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;
    Window window;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape input, output;
    Window window;
    storage const* x = nullptr;  // read for maxima only
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
