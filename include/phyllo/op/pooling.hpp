// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::op {

enum class PoolingKind {
  maximum,
  average,          // divides by all taps
  average_counted,  // divides by the taps that count_taps counts
};

/// The taps of a window at output position (depth, height, width) that lie in the input or, if it
/// counts, in its padding.
PHYLLO_INLINE int count_taps(Window const& w, Shape const& input, int const (&at)[3],
                             bool counts_padding) {
  int count = 1;
  for (int d = 0; d < 3; ++d) {
    int const border = counts_padding ? w.padding[d] : 0;
    int const first = at[d] * w.stride[d] - w.padding[d], last = first + w.size[d];
    int const begin = first < -border ? -border : first;
    int const end = last > input.spatial[d] + border ? input.spatial[d] + border : last;
    count *= end - begin;
  }
  return count;
}
/// What the sum over a window is divided by.
template <PoolingKind Kind, class Work>
PHYLLO_INLINE int pooling_divisor(Work const& work, int const (&at)[3]) {
  if constexpr (Kind == PoolingKind::average_counted)
    return count_taps(work.window, work.input, at, work.counts_padding);
  else
    return work.window.taps();
}

/// The position of the first maximum of channel c in the window at (depth, height, width), in one
/// sample (S, C) of the image. A not-a-number is larger than any number.
template <class A, class S>
PHYLLO_INLINE int first_maximum(Window const& w, Shape const& image, int const (&at)[3],
                                S const* sample, int c) {
  int begin[3] = {}, end[3] = {};
  for (int d = 0; d < 3; ++d) {
    int const first = at[d] * w.stride[d] - w.padding[d], last = first + w.size[d];
    begin[d] = first > 0 ? first : 0;
    end[d] = last < image.spatial[d] ? last : image.spatial[d];
  }
  int best = -1;
  A largest = 0;
  for (int i = begin[0]; i < end[0]; ++i)
    for (int j = begin[1]; j < end[1]; ++j)
      for (int k = begin[2]; k < end[2]; ++k) {
        int const p = (i * image.spatial[1] + j) * image.spatial[2] + k;
        A const value = A(sample[long(p) * image.channels + c]);
        if (best < 0 || value > largest || (value != value && largest == largest)) {
          best = p;
          largest = value;
        }
      }
  return best;
}

/// Maximum or mean over a window, per channel.
///
/// shape    x (N, S, C) -> y (N, S', C); the padding is less than the window, so that every window
///          holds an input position; a window may reach beyond the padding after it
/// numerics a maximum passes a not-a-number on; its gradient goes to the first maximal tap in
///          row-major order; a mean divides by all taps, padding included, or by those that count
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
    bool counts_padding = true;  // average_counted
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
    bool counts_padding = true;
  };
};

}  // namespace phyllo::inline PHYLLO_ISA::op
