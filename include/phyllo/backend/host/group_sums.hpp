// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/row_taps.hpp>
#include <phyllo/backend/host/simd/register_block.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums over the taps and channels of a group of neighbouring results, whose channels of a group
/// are whole vectors.
///
/// shape    weights (groups, taps, members, results)
/// cost     loads for each vector of products of two vectors and six neighbours: 0.67
template <class A> struct GroupSums {
  static constexpr int most = InstructionSet::registers >= 32 ? 12 : 6;  // neighbours

  /// As of SlidingSums; whole groups of channels.
  static void sum(RowTaps<A> const& of, int channel, int count, A const* first, int begin, int end,
                  A* to, long distance) {
    bool const many = end > most / 2;
    for (int c = 0; c < count; c += lanes<A>) {
      bool const two = c % of.results + 2 * lanes<A> <= of.results;
      A const* const start = first == nullptr ? nullptr : first + c;
      if (two && many)
        sum_some<most, 2>(of, channel + c, start, begin, end, to + c, distance);
      else if (two)
        sum_some<most / 2, 2>(of, channel + c, start, begin, end, to + c, distance);
      else if (many)
        sum_some<most, 1>(of, channel + c, start, begin, end, to + c, distance);
      else
        sum_some<most / 2, 1>(of, channel + c, start, begin, end, to + c, distance);
      c += two ? lanes<A> : 0;
    }
  }

 private:
  template <int Count, int Vectors>
  PHYLLO_NOINLINE static void sum_some(RowTaps<A> const& of, int channel, A const* first, int begin,
                                       int end, A* to, long distance) {
    RegisterBlock<A, Count, Vectors, lanes<A>> block;
    block.begin(first);
    int const group = channel / of.results;
    long const from = long(group) * of.members, size = long(of.members) * of.results;
    long const weights_from = group * of.window * size + channel % of.results;
    for (int r = 0; r < of.rows; ++r)
      for (int t = 0; t < of.taps; ++t)
        block.template multiply<2>(of.row[r].numbers + from + t * of.tap, of.apart * of.tap, 1,
                                   of.row[r].weights + weights_from + t * of.weight, of.results,
                                   of.members);
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < Count; ++i) {
      if (i < begin || i >= end) continue;
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v)
        InstructionSet::store(to + i * distance + v * lanes<A>, block.sum[i][v]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
