// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Where the numbers of an image stand in a thread's memory: one vector of as many samples for each
/// (position, channel), with zeros around and between the positions where a convolution reads some.
///
/// shape    (depth, height, width, channels), row-major, a vector each
/// units    offsets in vectors
struct ImagePlace {
  int channels = 1;
  int extent[3] = {1, 1, 1};  // positions of the image
  int before[3] = {0, 0, 0};  // zeros in front of them
  int step[3] = {1, 1, 1};    // from one of them to the next
  int length[3] = {1, 1, 1};  // positions in memory

  static constexpr ImagePlace plain(Shape const& s) {
    ImagePlace p;
    p.channels = s.channels;
    for (int d = 0; d < 3; ++d) p.extent[d] = p.length[d] = s.spatial[d];
    return p;
  }
  /// The input of a convolution within its padding.
  static constexpr ImagePlace padded(Shape const& in, Shape const& out, Window const& w) {
    ImagePlace p = plain(in);
    for (int d = 0; d < 3; ++d) {
      p.before[d] = w.padding[d];
      int const read = (out.spatial[d] - 1) * w.stride[d] + w.size[d];
      int const held = w.padding[d] + in.spatial[d];
      p.length[d] = read > held ? read : held;
    }
    return p;
  }
  /// The gradient of a convolution's sums, a stride apart, so that the gradient of the input is a
  /// convolution of stride one: d_x[p] = sum over j of place[p + j] weight[size - 1 - j].
  static constexpr ImagePlace spread(Shape const& in, Shape const& out, Window const& w) {
    ImagePlace p = plain(out);
    for (int d = 0; d < 3; ++d) {
      p.before[d] = w.size[d] - 1 - w.padding[d];
      p.step[d] = w.stride[d];
      p.length[d] = in.spatial[d] + w.size[d] - 1;
    }
    return p;
  }

  constexpr int at(int d, int h, int w) const {
    return (((before[0] + d * step[0]) * length[1] + before[1] + h * step[1]) * length[2] +
            before[2] + w * step[2]) *
           channels;
  }
  constexpr int size() const { return length[0] * length[1] * length[2] * channels; }
  constexpr int features() const { return extent[0] * extent[1] * extent[2] * channels; }
  /// From a position to the next in its row.
  constexpr int stride() const { return step[2] * channels; }
  constexpr bool has_zeros() const { return size() != features(); }
  /// Whether plane (dimension 0) or row (dimension 1) number i in memory holds any of the image.
  constexpr bool holds(int dimension, int i) const {
    int const from_first = i - before[dimension];
    return from_first >= 0 && from_first % step[dimension] == 0 &&
           from_first / step[dimension] < extent[dimension];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
