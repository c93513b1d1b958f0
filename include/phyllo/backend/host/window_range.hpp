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

/// Position (d, h, w) of an image in the order in which positions are stored.
PHYLLO_INLINE_ON_HOST long position_of(Shape const& image, int d, int h, int w) {
  return (long(d) * image.spatial[1] + h) * image.spatial[2] + w;
}

}  // namespace phyllo::inline PHYLLO_ISA::host
