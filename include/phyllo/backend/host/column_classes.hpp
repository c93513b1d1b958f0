// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_source.hpp>

#include <climits>
#include <numeric>

namespace phyllo::inline PHYLLO_ISA::host {

/// Columns [begin, end) of a result in classes: those of a class have the same taps, and from one
/// to the next these move over as many columns of the source. Columns of the source are counted
/// from the first one that is read, which may be beyond a border.
template <bool ToImage> class ColumnClasses {
 public:
  struct Class {
    int first;  // column of the result
    int count;
    int origin;  // column that the first tap of the first result reads
    int taps;
    int first_weight, weight_step;  // which taps of the window they are
  };

  /// Of classes with fewer results than `fewest`, columns are there for so many.
  ColumnClasses(ChannelSource<ToImage> const& source, int fewest, int begin, int end)
      : source_(source), begin_(begin), end_(end) {
    ConvolutionShape const& s = source.shape;
    int const common = std::gcd(s.stride[2], s.dilation[2]);
    tap_ = s.dilation[2];
    apart_ = ToImage ? 1 : s.stride[2] / common;
    distance_ = ToImage ? s.stride[2] * s.dilation[2] : s.dilation[2] / common;
    int first = INT_MAX;
    for (int i = 0; i < count(); ++i)
      if (Class const c = (*this)[i]; c.taps > 0 && c.origin < first) first = c.origin;
    origin_ = first < INT_MAX ? first : 0;
    for (int i = 0; i < count(); ++i) {
      Class const c = (*this)[i];
      int const last = (c.count < fewest ? fewest : c.count) - 1;
      int const all = c.origin + (last * apart_ + (c.taps > 0 ? c.taps - 1 : 0)) * tap_ + 1;
      width_ = all > width_ ? all : width_;
    }
  }

  /// Whether there are such classes: strides of a transposed convolution without dilation.
  static bool fits(ConvolutionShape const& s) {
    return !ToImage || s.stride[2] == 1 || s.dilation[2] == 1;
  }
  int count() const { return distance_ < end_ - begin_ ? distance_ : end_ - begin_; }
  int begin() const { return begin_; }
  int end() const { return end_; }
  int distance() const { return distance_; }  // of the results of a class
  int apart() const { return apart_; }        // taps from one to the next
  int tap() const { return tap_; }            // columns from tap to tap
  int width() const { return width_; }        // columns of the source

  Class operator[](int i) const {
    ConvolutionShape const& s = source_.shape;
    int const first = begin_ + i, count = (end_ - first + distance_ - 1) / distance_;
    Class c{first, count, 0, s.size[2], 0, 1};
    if constexpr (ToImage) {
      // From the last tap to the first: later taps read earlier columns.
      int t = 0;
      while (t < s.stride[2] && (first + s.before[2] - t * s.dilation[2]) % s.stride[2] != 0) ++t;
      c.taps = t < s.size[2] ? (s.size[2] - t + s.stride[2] - 1) / s.stride[2] : 0;
      if (c.taps == 0) return c;
      c.first_weight = t + (c.taps - 1) * s.stride[2];
      c.weight_step = -s.stride[2];
      c.origin = (first + s.before[2] - c.first_weight * s.dilation[2]) / s.stride[2] - origin_;
    } else {
      c.origin = s.place(2, first, 0) - origin_;
    }
    return c;
  }
  /// Which column of the source one of those is; -1: zeros.
  int source_of(int column) const {
    ConvolutionShape const& s = source_.shape;
    int const at = column + origin_;
    if constexpr (ToImage)
      return at >= 0 && at < s.grid.spatial[2] ? at : -1;
    else
      return at <= s.last(2) ? s.read(2, at) : -1;
  }

 private:
  ChannelSource<ToImage> const& source_;
  int begin_, end_;
  int tap_ = 1, apart_ = 1, distance_ = 1;
  int origin_ = 0;  // of the source: column 0
  int width_ = 1;
};

}  // namespace phyllo::inline PHYLLO_ISA::host
