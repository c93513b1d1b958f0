// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Softmax over the channels of each row: y_c = exp(x_c - max x) / sum over k of exp(x_k - max x).
///
/// shape    (rows, C) -> (rows, C), rows = N times positions
/// numerics shifted by the maximum, so that no exponential overflows
/// cost     3 reads, 1 write
struct Softmax {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    long rows = 0;
    int channels = 0;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  /// d_x (+)= y (d_y - sum over k of y_k d_y_k)
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    long rows = 0;
    int channels = 0;
    storage const* y = nullptr;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

/// Softmax over the middle axis of (outer, extent, inner), or its logarithm: y_i = x_i - max x -
/// log(sum over k of exp(x_k - max x)).
///
/// shape    (outer, extent, inner) -> the same
/// numerics as Softmax; the gradient of a logarithm reads exp(y) of the stored y
/// cost     3 reads, 1 write
template <bool Logarithm> struct AxisSoftmax {
  static constexpr bool logarithm = Logarithm;

  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    long outer = 0;
    int extent = 0, inner = 1;
    storage const* x = nullptr;
    storage* y = nullptr;
  };
  /// Of the softmax as above; of its logarithm d_x (+)= d_y - exp(y) sum over k of d_y_k
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    long outer = 0;
    int extent = 0, inner = 1;
    storage const* y = nullptr;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
