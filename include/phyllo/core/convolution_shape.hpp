// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/shape.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// What a window reads beyond the border of an image: zeros, the image mirrored at its outermost
/// numbers, these numbers themselves, or the image again.
enum class PaddingMode : std::uint8_t { zeros, reflect, replicate, circular };

/// Windows on an image in up to three dimensions, their taps `dilation` apart, and channels in
/// groups that do not mix. A convolution computes the grid from the image, a transposed one the
/// image from the grid.
struct ConvolutionShape {
  Shape image;  // what the windows lie on
  Shape grid;   // as many windows, and the channels that belong to them
  int size[3] = {1, 1, 1};
  int stride[3] = {1, 1, 1};
  int dilation[3] = {1, 1, 1};
  int before[3] = {0, 0, 0};  // padding in front of the image
  int groups = 1;
  PaddingMode mode = PaddingMode::zeros;

  PHYLLO_FUNCTION constexpr int taps() const { return size[0] * size[1] * size[2]; }
  /// Channels of a group.
  PHYLLO_FUNCTION constexpr int image_channels() const { return image.channels / groups; }
  PHYLLO_FUNCTION constexpr int grid_channels() const { return grid.channels / groups; }
  /// Elements (taps, image_channels, grid.channels) of the weights.
  PHYLLO_FUNCTION constexpr long weights() const {
    return long(taps()) * image_channels() * grid.channels;
  }

  /// Coordinate of tap t of window q along dimension d; it may be beyond the border.
  PHYLLO_FUNCTION constexpr int place(int d, int q, int t) const {
    return q * stride[d] - before[d] + t * dilation[d];
  }
  /// Which coordinate of the image is read there; -1: a zero.
  PHYLLO_FUNCTION constexpr int read(int d, int at) const {
    int const extent = image.spatial[d];
    if (at >= 0 && at < extent) return at;
    if (mode == PaddingMode::circular) return at < 0 ? at + extent : at - extent;
    if (mode == PaddingMode::reflect) return at < 0 ? -at : 2 * (extent - 1) - at;
    if (mode == PaddingMode::replicate) return at < 0 ? 0 : extent - 1;
    return -1;
  }
  /// The largest coordinate that a tap has.
  PHYLLO_FUNCTION constexpr int last(int d) const {
    return place(d, grid.spatial[d] - 1, size[d] - 1);
  }
  /// The window whose tap t stands at a coordinate; -1: there is none.
  PHYLLO_FUNCTION constexpr int window(int d, int at, int t) const {
    int const from = at + before[d] - t * dilation[d];
    if (from < 0 || from % stride[d] != 0) return -1;
    return from / stride[d] < grid.spatial[d] ? from / stride[d] : -1;
  }

  /// visit(q, t) for each window q with a tap t that reads position p of the image.
  template <class Visit> PHYLLO_FUNCTION constexpr void for_each_window(int p, Visit& visit) const {
    int const at[3] = {p / image.spatial[2] / image.spatial[1],
                       p / image.spatial[2] % image.spatial[1], p % image.spatial[2]};
    for (int d = first(0, at[0]); d <= end(0, at[0]); d = next(0, at[0], d))
      for (int td = 0; td < size[0]; ++td) {
        int const qd = read(0, d) == at[0] ? window(0, d, td) : -1;
        if (qd < 0) continue;
        for (int h = first(1, at[1]); h <= end(1, at[1]); h = next(1, at[1], h))
          for (int th = 0; th < size[1]; ++th) {
            int const qh = read(1, h) == at[1] ? window(1, h, th) : -1;
            if (qh < 0) continue;
            for (int w = first(2, at[2]); w <= end(2, at[2]); w = next(2, at[2], w))
              for (int tw = 0; tw < size[2]; ++tw) {
                int const qw = read(2, w) == at[2] ? window(2, w, tw) : -1;
                if (qw < 0) continue;
                visit((qd * grid.spatial[1] + qh) * grid.spatial[2] + qw,
                      (td * size[1] + th) * size[2] + tw);
              }
          }
      }
  }
  /// visit(t, p) for each tap t of window q that reads a position p of the image.
  template <class Visit> PHYLLO_FUNCTION constexpr void for_each_tap(int q, Visit& visit) const {
    int const at[3] = {q / grid.spatial[2] / grid.spatial[1], q / grid.spatial[2] % grid.spatial[1],
                       q % grid.spatial[2]};
    for (int td = 0; td < size[0]; ++td) {
      int const d = read(0, place(0, at[0], td));
      if (d < 0) continue;
      for (int th = 0; th < size[1]; ++th) {
        int const h = read(1, place(1, at[1], th));
        if (h < 0) continue;
        for (int tw = 0; tw < size[2]; ++tw) {
          int const w = read(2, place(2, at[2], tw));
          if (w < 0) continue;
          visit((td * size[1] + th) * size[2] + tw,
                (d * image.spatial[1] + h) * image.spatial[2] + w);
        }
      }
    }
  }

 private:
  // Coordinates that may be read as p: beyond the border in front, p itself, beyond the other one.
  PHYLLO_FUNCTION constexpr int first(int d, int p) const {
    return mode == PaddingMode::zeros || before[d] == 0 ? p : -before[d];
  }
  PHYLLO_FUNCTION constexpr int end(int d, int p) const {
    return mode == PaddingMode::zeros || last(d) < p ? p : last(d);
  }
  PHYLLO_FUNCTION constexpr int next(int d, int p, int at) const {
    if (at == -1) return p;
    return at >= 0 && at < image.spatial[d] ? image.spatial[d] : at + 1;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
