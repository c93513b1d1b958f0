// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/row_taps.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Sums of a depthwise convolution over the taps of neighbouring results, one channel a lane. A
/// number that several neighbours read is loaded once.
///
/// shape    weights (taps, whole vectors of channels)
/// cost     loads for each vector of products with three taps and eight neighbours that are a tap
///          apart: 0.54
template <class A> struct SlidingSums {
  using V = Vector<A>;
  using I = InstructionSet;
  static constexpr int most = 8;       // neighbours
  static constexpr int most_taps = 3;  // whose weights are in registers together

  /// Neighbours [begin, end) of those that are read, channels [channel, channel + count) in whole
  /// vectors: to (neighbours, `distance` apart) = first + sums; first: nullptr for zeros.
  static void sum(RowTaps<A> const& of, int channel, int count, A const* first, int begin, int end,
                  A* to, long distance) {
    bool const many = end > most / 2;
    if (of.apart == 1 && many)
      sum_some<most, 1>(of, channel, count, first, begin, end, to, distance);
    else if (of.apart == 1)
      sum_some<most / 2, 1>(of, channel, count, first, begin, end, to, distance);
    else if (many)
      sum_some<most, most_taps>(of, channel, count, first, begin, end, to, distance);
    else
      sum_some<most / 2, most_taps>(of, channel, count, first, begin, end, to, distance);
  }

 private:
  // Never inlined: among the caller's variables GCC finds no registers for all sums.
  template <int Count, int Step>
  PHYLLO_NOINLINE static void sum_some(RowTaps<A> const& of, int channel, int count, A const* first,
                                       int begin, int end, A* to, long distance) {
    for (int c = 0; c < count; c += lanes<A>, to += lanes<A>) {
      V total[Count];
      V const start = first != nullptr ? I::load(first + c) : I::zero(A());
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Count; ++i) total[i] = start;
      for (int r = 0; r < of.rows; ++r) {
        A const* numbers = of.row[r].numbers + channel + c;
        A const* weights = of.row[r].weights + channel + c;
        int left = of.taps;
        for (; left >= most_taps; left -= most_taps) {
          add<most_taps, Step>(of, numbers, weights, total);
          numbers += most_taps * of.tap;
          weights += most_taps * of.weight;
        }
        if (left == 2)
          add<2, Step>(of, numbers, weights, total);
        else if (left == 1)
          add<1, Step>(of, numbers, weights, total);
      }
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Count; ++i)
        if (i >= begin && i < end) I::store(to + i * distance, total[i]);
    }
  }
  template <int Taps, int Step, int Count>
  PHYLLO_INLINE_ON_HOST static void add(RowTaps<A> const& of, A const* numbers, A const* weights,
                                        V (&total)[Count]) {
    V factor[Taps], seen[Taps];
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t) factor[t] = I::load(weights + t * of.weight);
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps - Step; ++t) seen[t] = I::load(numbers + t * of.tap);
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < Count; ++i) {
      PHYLLO_UNROLL_ON_HOST
      for (int t = 0; t < Taps; ++t) {
        if (t >= Taps - Step)
          seen[t] = I::load(numbers + (i * (Step < most_taps ? Step : of.apart) + t) * of.tap);
        else if (i > 0)
          seen[t] = seen[t + Step];
        I::accumulate(total[i], seen[t], factor[t]);
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
