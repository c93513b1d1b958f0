// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/model/bind.hpp>

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// An axis of two tensors with the same strides: by how many indices an element of the second may be
// behind one of the first.
struct IndexDifference {
  std::ptrdiff_t stride = 0;  // elements; positive
  std::ptrdiff_t least = 0, most = 0;

  std::ptrdiff_t reach() const { return stride * std::max(std::abs(least), std::abs(most)); }
};

// Whether some differences of axes, the largest strides first, make `wanted` elements.
inline bool can_make(IndexDifference const* axis, int count, std::ptrdiff_t wanted) {
  if (count == 0) return wanted == 0;
  std::ptrdiff_t rest = 0;
  for (int a = 1; a < count; ++a) rest += axis[a].reach();
  auto const& [stride, least, most] = axis[0];
  for (std::ptrdiff_t d = std::max(least, (wanted - rest) / stride - 1);
       d <= std::min(most, (wanted + rest) / stride + 1); ++d)
    if (std::abs(wanted - d * stride) <= rest && can_make(axis + 1, count - 1, wanted - d * stride))
      return true;
  return false;
}

}  // namespace detail

/// Whether an element of `first` is also one of `second` in a later sample. The answer is exact for
/// Views of one type with the same strides, such as two parts of one View. For other Views it is
/// whether the bytes between their first and last elements overlap.
inline bool meets_later_sample(ExternalTensor const& first, Shape const& of_first,
                               ExternalTensor const& second, Shape const& of_second, long batch) {
  if (batch < 2 || !may_overlap(first, of_first, second, of_second, batch)) return false;
  if (first.type != second.type) return true;
  detail::IndexDifference axis[5];
  int axes = 0;
  auto const add = [&](std::ptrdiff_t a, std::ptrdiff_t b, std::ptrdiff_t least,
                       std::ptrdiff_t extent_a, std::ptrdiff_t extent_b) {
    if (extent_a > 1 && extent_b > 1 && a != b) return false;
    std::ptrdiff_t const stride = extent_b > 1 ? b : a;
    if (stride > 0) axis[axes++] = {stride, least, extent_b - 1};
    if (stride < 0) axis[axes++] = {-stride, 1 - extent_b, -least};
    return true;
  };
  // A gathered tensor has a pointer for each channel.
  int const channels = first.variables == 0 ? of_first.channels : 1;
  bool same = add(first.sample_stride, second.sample_stride, 1, batch, batch) &&
              add(first.channel_stride, second.channel_stride, 1 - channels, channels,
                  second.variables == 0 ? of_second.channels : 1);
  for (int d = 0; d < 3; ++d)
    same = same && add(first.spatial_stride[d], second.spatial_stride[d], 1 - of_first.spatial[d],
                       of_first.spatial[d], of_second.spatial[d]);
  if (!same) return true;
  for (int a = 1; a < axes; ++a)  // by insertion: GCC warns of std::sort beyond five elements
    for (int b = a; b > 0 && axis[b - 1].stride < axis[b].stride; --b)
      std::swap(axis[b - 1], axis[b]);
  auto const size = std::ptrdiff_t(element_size(first.type));
  for (int i = 0; i == 0 || i < first.variables; ++i)
    for (int j = 0; j == 0 || j < second.variables; ++j) {
      std::ptrdiff_t const bytes = static_cast<std::byte const*>(first.data[i]) -
                                   static_cast<std::byte const*>(second.data[j]);
      if (bytes % size != 0 || detail::can_make(axis, axes, bytes / size)) return true;
    }
  return false;
}

}  // namespace phyllo::inline PHYLLO_ISA
