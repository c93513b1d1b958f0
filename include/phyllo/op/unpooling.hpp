// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/op/pooling.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

/// Values of the windows of a maximum, back at the places of the maxima, and zeros elsewhere.
///
/// shape    x (N, S', C), a value for each window · image (N, S, C), which has the maxima ->
///          y (N, S, C); windows do not overlap
/// numerics the maximum of a window is the first of equal ones in row-major order; a not-a-number
///          is larger than any number
/// cost     one read of the image for each tap, forward and backward; no atomics
/// source   Zeiler and Fergus, Visualizing and Understanding Convolutional Networks, ECCV 2014
struct Unpooling {
  template <class Precision> struct Forward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape pooled, image_shape;
    Window window;
    storage const* x = nullptr;
    storage const* image = nullptr;
    storage* y = nullptr;
  };
  /// d_x (+)= d_y at the maximum of each window. The image has no gradient by this op.
  template <class Precision> struct Backward {
    using storage = typename Precision::storage;
    int batch = 0;
    Shape pooled, image_shape;
    Window window;
    storage const* image = nullptr;
    storage const* d_y = nullptr;
    storage* d_x = nullptr;
    bool accumulate = false;
  };
};

/// The window that position p of the image is part of; -1: none.
PHYLLO_INLINE int window_over(Window const& w, Shape const& image, Shape const& pooled, int p) {
  int const plane = image.spatial[1] * image.spatial[2];
  int const at[3] = {p / plane, p / image.spatial[2] % image.spatial[1], p % image.spatial[2]};
  int q = 0;
  for (int d = 0; d < 3; ++d) {
    int const along = at[d] + w.padding[d], k = along / w.stride[d];
    if (along - k * w.stride[d] >= w.size[d] || k >= pooled.spatial[d]) return -1;
    q = q * pooled.spatial[d] + k;
  }
  return q;
}

/// The position of the first maximum of channel c in window q, in one sample (S, C) of the image.
template <class A, class S>
PHYLLO_INLINE int first_maximum(Window const& w, Shape const& image, Shape const& pooled,
                                S const* sample, int c, int q) {
  int const plane = pooled.spatial[1] * pooled.spatial[2];
  int const at[3] = {q / plane, q / pooled.spatial[2] % pooled.spatial[1], q % pooled.spatial[2]};
  return first_maximum<A>(w, image, at, sample, c);
}

}  // namespace phyllo::inline PHYLLO_ISA::op
