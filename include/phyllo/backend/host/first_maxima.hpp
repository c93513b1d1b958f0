// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_vectors.hpp>
#include <phyllo/backend/host/window_range.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA::host {

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
        x + position_of(image, window[0].begin, window[1].begin, window[2].begin) * image.channels,
        some);
    Mask no_number[width];
    for (int i = window[0].begin; i < window[0].end; ++i)
      for (int j = window[1].begin; j < window[1].end; ++j) {
        S const* from = x + position_of(image, i, j, window[2].begin) * image.channels;
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
};

}  // namespace phyllo::inline PHYLLO_ISA::host
