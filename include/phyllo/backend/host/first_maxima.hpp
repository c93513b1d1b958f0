// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/lane_mask.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/core/window.hpp>

#include <limits>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a window that are reduced at a time: one 512-bit vector of float.
inline constexpr int pooled_channels = 16;

/// Sixteen channels of a position, in as many vectors as they fill.
template <class A> struct ChannelVectors {
  static constexpr int width = pooled_channels / lanes<A>;
  Vector<A> part[width];

  static PHYLLO_INLINE_ON_HOST ChannelVectors zero() {
    ChannelVectors v;
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::zero(A());
    return v;
  }
  /// All channels, or the first `some` where Count is 0; zeros in the others.
  template <int Count, class S>
  static PHYLLO_INLINE_ON_HOST ChannelVectors load(S const* from, int some) {
    ChannelVectors v;
    if constexpr (Count > 0) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::load(from + i * lanes<A>);
    } else {
      A numbers[pooled_channels] = {};
      for (int c = 0; c < some; ++c) numbers[c] = number<A>(from, c);
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) v.part[i] = InstructionSet::load(numbers + i * lanes<A>);
    }
    return v;
  }
  template <int Count, class S> PHYLLO_INLINE_ON_HOST void store(S* to, int some) const {
    if constexpr (Count > 0 && std::is_same_v<S, A>) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) InstructionSet::store(to + i * lanes<A>, part[i]);
    } else {
      A numbers[pooled_channels];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < width; ++i) InstructionSet::store(numbers + i * lanes<A>, part[i]);
      store_numbers(numbers, Count > 0 ? Count : some, to);
    }
  }
  PHYLLO_INLINE_ON_HOST void add(ChannelVectors const& other) {
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) part[i] = InstructionSet::add(part[i], other.part[i]);
  }
  PHYLLO_INLINE_ON_HOST void divide(A divisor) {
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i) part[i] = part[i] / InstructionSet::broadcast(divisor);
  }
  /// += factor * other
  PHYLLO_INLINE_ON_HOST void add(A factor, ChannelVectors const& other) {
    Vector<A> const v = InstructionSet::broadcast(factor);
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < width; ++i)
      part[i] = InstructionSet::multiply_add(v, other.part[i], part[i]);
  }
};

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

/// The maxima of sixteen channels in one window, and which tap has the first one. A not-a-number is
/// larger than any number.
template <class A> struct FirstMaxima {
  using Channels = ChannelVectors<A>;
  static constexpr int width = Channels::width;
  using Mask = LaneMask<A>;
  Channels maximum;
  Mask found[width];

  /// Of `Count` channels, or of `some` where that is 0; x: the first of them at position 0 of a
  /// sample (S, C).
  template <int Count, class S>
  PHYLLO_INLINE_ON_HOST void find(S const* x, Shape const& image, Range const (&window)[3],
                                  int some) {
    // In variables of their own, which compilers keep in registers.
    Channels most = Channels::template load<Count>(
        x + position(image, window[0].begin, window[1].begin, window[2].begin) * image.channels,
        some);
    Mask no_number[width];
    for (int i = window[0].begin; i < window[0].end; ++i)
      for (int j = window[1].begin; j < window[1].end; ++j) {
        S const* from = x + position(image, i, j, window[2].begin) * image.channels;
        for (int k = window[2].begin; k < window[2].end; ++k, from += image.channels) {
          Channels const value = Channels::template load<Count>(from, some);
          PHYLLO_UNROLL_ON_HOST
          for (int v = 0; v < width; ++v) {
            no_number[v] = no_number[v] | Mask::unordered(value.part[v], value.part[v]);
            most.part[v] = value.part[v] > most.part[v] ? value.part[v] : most.part[v];
          }
        }
      }
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < width; ++v) {
      maximum.part[v] = no_number[v].select(
          InstructionSet::broadcast(std::numeric_limits<A>::quiet_NaN()), most.part[v]);
      found[v] = Mask();
    }
  }
  /// The numbers of the channels whose first maximum is in this tap, and zeros in the others. Asked
  /// of the taps of the window in order.
  PHYLLO_INLINE_ON_HOST Channels take(Channels const& tap, Channels const& numbers) {
    Channels taken;
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < width; ++v) {
      Vector<A> const x = tap.part[v];
      Mask const is_first =
          (Mask::equal(x, maximum.part[v]) | Mask::unordered(x, x)).without(found[v]);
      taken.part[v] = is_first.select(numbers.part[v], InstructionSet::zero(A()));
      found[v] = found[v] | is_first;
    }
    return taken;
  }
  static PHYLLO_INLINE_ON_HOST long position(Shape const& image, int d, int h, int w) {
    return (long(d) * image.spatial[1] + h) * image.spatial[2] + w;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
