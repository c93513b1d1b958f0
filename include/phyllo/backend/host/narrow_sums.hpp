// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_sums.hpp>
#include <phyllo/backend/host/sliding_sums.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums of a convolution of narrow groups: of one channel each, or of groups whose results are
/// whole vectors. One type for both, so that what calls it is compiled once.
template <class A> struct NarrowSums {
  static constexpr int most =
      SlidingSums<A>::most > GroupSums<A>::most ? SlidingSums<A>::most : GroupSums<A>::most;
  bool depthwise = true;
  int members = 1, results = 1, taps = 1;  // of a group, and of a window

  template <class Source>
  explicit NarrowSums(Source const& source)
      : depthwise(source.members() == 1 && source.results() == 1),
        members(source.members()),
        results(source.results()),
        taps(source.shape.taps()) {}

  /// Whether there are kernels for the groups.
  bool fits() const {
    return depthwise || (results % lanes<A> == 0 && results <= channels_of_block<A>);
  }
  /// Channels of results that are computed together.
  int channels() const { return depthwise ? channels_of_block<A> : results; }
  /// Channels of the source that so many of results read.
  int read(int count) const { return count / results * members; }
  /// Neighbours that are computed together, and that are read for so many.
  int neighbours() const { return depthwise ? SlidingSums<A>::most : GroupSums<A>::most; }
  int reads(int count) const { return count > neighbours() / 2 ? neighbours() : neighbours() / 2; }

  /// Weights of a tap, and of all, of so many channels.
  long tap_weights(int count) const {
    return depthwise ? (count + lanes<A> - 1) / lanes<A> * lanes<A> : long(members) * results;
  }
  long weights(int count) const {
    return depthwise ? taps * tap_weights(count) : long(taps) * members * count;
  }
  template <class Source, class S>
  void load_weights(Source const& source, S const* weight, int first, int count, A* to) const {
    for (int t = 0; depthwise && t < taps; ++t, to += tap_weights(count)) {
      S const* const from = weight + long(t) * source.to().channels + first;
      for (int c = 0; c < tap_weights(count); ++c) to[c] = c < count ? number<A>(from, c) : A(0);
    }
    for (int c = first; !depthwise && c < first + count; c += results)
      for (int t = 0; t < taps; ++t)
        for (int m = 0; m < members; ++m, to += results)
          for (int o = 0; o < results; ++o) to[o] = A(weight[source.weight(t, m, c + o)]);
  }
  /// Gradients in that order to where the weights are.
  template <class Source>
  void store_weights(Source const& source, A const* from, int first, int count, A* weight) const {
    for (int t = 0; depthwise && t < taps; ++t, from += tap_weights(count))
      for (int c = 0; c < count; ++c) weight[long(t) * source.to().channels + first + c] = from[c];
    for (int c = first; !depthwise && c < first + count; c += results)
      for (int t = 0; t < taps; ++t)
        for (int m = 0; m < members; ++m)
          for (int o = 0; o < results; ++o) weight[source.weight(t, m, c + o)] = *from++;
  }

  void sum(RowTaps<A> const& of, int channel, int count, A const* first, int begin, int end, A* to,
           long distance) const {
    if (depthwise)
      SlidingSums<A>::sum(of, channel, count, first, begin, end, to, distance);
    else
      GroupSums<A>::sum(of, channel, count, first, begin, end, to, distance);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
