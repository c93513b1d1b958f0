// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>
#include <phyllo/core/window.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Half-open range along one dimension.
struct Range {
  int begin = 0;
  int end = 0;
  constexpr bool has(int at) const { return begin <= at && at < end; }
};

/// Input places of window q along dimension d that are inside the input.
PHYLLO_INLINE_ON_HOST Range places_of(Window const& w, Shape const& input, int d, int q) {
  int const first = q * w.stride[d] - w.padding[d], last = first + w.size[d];
  return {first > 0 ? first : 0, last < input.spatial[d] ? last : input.spatial[d]};
}

/// Windows along dimension d that cover one of the input places of a range.
PHYLLO_INLINE_ON_HOST Range windows_over(Window const& w, Shape const& output, int d,
                                         Range const& places) {
  int const from = places.begin + w.padding[d] - w.size[d] + 1;
  int const last = (places.end - 1 + w.padding[d]) / w.stride[d] + 1;
  return {from <= 0 ? 0 : (from + w.stride[d] - 1) / w.stride[d],
          last < output.spatial[d] ? last : output.spatial[d]};
}

/// windows_over of one place after the other along dimension d, from place 0 on, without divisions.
class WindowsAlong {
 public:
  WindowsAlong(Window const& w, Shape const& output, int d)
      : stride_(w.stride[d]),
        windows_(output.spatial[d]),
        until_begin_(w.size[d] - w.padding[d]),
        phase_(w.padding[d] % w.stride[d]),
        end_(w.padding[d] / w.stride[d] + 1) {}
  PHYLLO_INLINE_ON_HOST Range here() const { return {begin_, end_ < windows_ ? end_ : windows_}; }
  PHYLLO_INLINE_ON_HOST void next() {
    if (--until_begin_ == 0) ++begin_, until_begin_ = stride_;
    if (++phase_ == stride_) ++end_, phase_ = 0;
  }

 private:
  int stride_, windows_;
  int until_begin_;  // places until the first window ends
  int phase_;        // places since the last window began
  int begin_ = 0, end_;
};

/// Position (d, h, w) of an image in the order in which positions are stored.
PHYLLO_INLINE_ON_HOST long position_of(Shape const& image, int d, int h, int w) {
  return (long(d) * image.spatial[1] + h) * image.spatial[2] + w;
}

}  // namespace phyllo::inline PHYLLO_ISA::host
