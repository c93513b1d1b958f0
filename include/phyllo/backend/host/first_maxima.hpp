// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/core/window.hpp>

#include <cstdint>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a window that are reduced at a time: one 512-bit vector of float.
inline constexpr int pooled_channels = 16;

/// A not-a-number is larger than any number. Without branches, so that loops become vectors.
template <class A> PHYLLO_INLINE_ON_HOST bool exceeds(A a, A b) {
  return (a > b) | ((a != a) & (b == b));
}

/// Half-open range along one dimension.
struct Range {
  int begin = 0;
  int end = 0;
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

/// The positions of the first maxima of some channels in one window.
template <class A> struct FirstMaxima {
  // As wide as the numbers beside it.
  using Position = std::conditional_t<sizeof(A) == 8, std::int64_t, std::int32_t>;
  A largest[pooled_channels];
  Position at[pooled_channels];

  /// Of `Count` channels, or of `some` where that is 0; x: the first of them at position 0 of a
  /// sample (S, C).
  template <int Count, class S>
  PHYLLO_INLINE_ON_HOST void find(S const* x, Shape const& image, Range const (&window)[3],
                                  int some) {
    int const count = Count > 0 ? Count : some;
    bool fresh = true;
    for (int i = window[0].begin; i < window[0].end; ++i)
      for (int j = window[1].begin; j < window[1].end; ++j)
        for (int k = window[2].begin; k < window[2].end; ++k) {
          int const p = (i * image.spatial[1] + j) * image.spatial[2] + k;
          S const* const from = x + long(p) * image.channels;
          if (fresh) {
            PHYLLO_SIMD(16)
            for (int c = 0; c < count; ++c) {
              largest[c] = number<A>(from, c);
              at[c] = Position(p);
            }
            fresh = false;
            continue;
          }
          PHYLLO_SIMD(16)
          for (int c = 0; c < count; ++c) {
            A const value = number<A>(from, c);
            bool const larger = exceeds(value, largest[c]);
            largest[c] = larger ? value : largest[c];
            at[c] = larger ? Position(p) : at[c];
          }
        }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
