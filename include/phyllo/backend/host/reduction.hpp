// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_units.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/reduction_backward.hpp>
#include <phyllo/backend/host/row_reduction.hpp>
#include <phyllo/backend/host/simd/instruction_set.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/backend/portable/reduction.hpp>
#include <phyllo/op/row_loops.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA::host {

/// One piece: some positions of the result, a vector of channels at a time, or where these are
/// joined, along them.
template <op::ReductionKind Kind, class P> struct reduction_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Reduction<Kind>::template Forward<P> work;
  int pieces;

  void operator()(int piece) const {
    Shape const &in = work.windows.input, &out = work.windows.output;
    long const rows = long(work.batch) * out.positions();
    long const first = rows * piece / pieces, last = rows * (piece + 1) / pieces;
    // Channels of a position alone: without the divisions of windows.
    bool const is_row = in.positions() == out.positions() && work.windows.joins_channels();
    using Rows = RowReduction<Kind, P>;
    if (is_row && Rows::serves(in.channels))
      return Rows{work.x, in.channels, share(op::ReductionBox{}), work.y, work.chosen}.run(first,
                                                                                           last);
    for (long r = first; r < last; ++r) {
      op::ReductionBox const box =
          is_row ? op::ReductionBox{} : work.windows.window(int(r % out.positions()));
      S const* const x = work.x + (is_row ? r * in.channels : r / out.positions() * in.size());
      if (work.windows.joins_channels())
        reduce_all(box, x, r);
      else if constexpr (op::is_maximum(Kind))
        for (int c = 0; c < in.channels; c += reduced_channels)
          take_largest(box, x, c, least(in.channels - c), r * in.channels + c);
      else
        for (int c = 0; c < in.channels; c += reduced_channels)
          add(box, x, c, least(in.channels - c), r * in.channels + c);
    }
  }

 private:
  static int least(int channels) {
    return channels < reduced_channels ? channels : reduced_channels;
  }
  // line(first number, positions), for each line of the window along the width.
  template <class Line> void each_line(op::ReductionBox const& box, Line const& line) const {
    Shape const& in = work.windows.input;
    for (int d = box.first[0]; d < box.last[0]; ++d)
      for (int h = box.first[1]; h < box.last[1]; ++h)
        line(op::ReductionWindows::position(in, d, h, box.first[2]) * in.channels,
             box.last[2] - box.first[2]);
  }
  A share(op::ReductionBox const& box) const {
    return Kind == op::ReductionKind::mean ? A(1) / (A(box.count()) * A(work.windows.channels()))
                                           : A(1);
  }

  void add(op::ReductionBox const& box, S const* x, int first, int count, long to) const {
    int const channels = work.windows.input.channels;
    int const together = positions_together(channels);  // one for more than half of the lanes
    A total[reduced_channels] = {};
    each_line(box, [&](int at, int positions) {
      A sum[reduced_channels] = {};
      int const whole = positions / together, rest = positions % together * count;
      long const stride = long(together) * channels;
      add_number_rows(x + at + first, whole, stride, together * count, sum);
      if (rest > 0) add_numbers(x + at + first + whole * stride, rest, sum);
      join(sum, count, whole > 0 ? together : positions);
      for (int c = 0; c < count; ++c) total[c] += sum[c];
    });
    A const factor = share(box);
    for (int c = 0; c < count; ++c) total[c] *= factor;
    store_numbers(total, count, work.y + to);
  }

  // The sums of some positions side by side become that of the first one, by halves.
  static void join(A* sum, int count, int positions) {
    while (positions > 1) {
      int const half = positions / 2;
      A* const upper = sum + (positions - half) * count;
      PHYLLO_SIMD(16)
      for (int i = 0; i < half * count; ++i) sum[i] += upper[i];
      positions -= half;
    }
  }

  void take_largest(op::ReductionBox const& box, S const* x, int first, int count, long to) const {
    int const channels = work.windows.input.channels;
    A largest[reduced_channels];
    std::int32_t chosen[reduced_channels];
    bool fresh = true;
    each_line(box, [&](int at, int positions) {
      for (int p = 0; p < positions; ++p, at += channels) {
        S const* const from = x + at + first;
        if (fresh) {
          PHYLLO_SIMD(16)
          for (int c = 0; c < count; ++c) {
            largest[c] = number<A>(from, c);
            chosen[c] = Kind == op::ReductionKind::maximum ? 1 : at + first + c;
          }
          fresh = false;
          continue;
        }
        PHYLLO_SIMD(16)
        for (int c = 0; c < count; ++c) {
          A const value = number<A>(from, c), before = largest[c];
          bool const larger = (value > before) | ((value != value) & (before == before));
          largest[c] = larger ? value : before;
          if constexpr (Kind == op::ReductionKind::maximum) {
            bool const equal = (value == before) | ((value != value) & (before != before));
            chosen[c] = larger ? 1 : chosen[c] + (equal ? 1 : 0);
          } else {
            chosen[c] = larger ? at + first + c : chosen[c];
          }
        }
      }
    });
    store_numbers(largest, count, work.y + to);
    if (work.chosen == nullptr) return;
    for (int c = 0; c < count; ++c) work.chosen[to + c] = chosen[c];
  }

  // All channels of the window as one number.
  void reduce_all(op::ReductionBox const& box, S const* x, long to) const {
    int const channels = work.windows.input.channels;
    if constexpr (Kind == op::ReductionKind::first_maximum) {
      portable::reduction_forward<Kind, P>{work}(to);
    } else if constexpr (Kind == op::ReductionKind::maximum) {
      A largest = number<A>(x, op::ReductionWindows::position(work.windows.input, box.first[0],
                                                              box.first[1], box.first[2]) *
                                   channels);
      each_line(box, [&](int at, int positions) {
        largest = largest_of(x + at, positions * channels, largest);
      });
      store_number(largest, work.y + to, 0);
      if (work.chosen == nullptr) return;
      int equal = 0;
      each_line(box, [&](int at, int positions) {
        equal += count_equal(x + at, positions * channels, largest);
      });
      work.chosen[to] = equal;
    } else {
      A total = 0;
      each_line(box, [&](int at, int positions) { total += sum_of(x + at, positions * channels); });
      store_number(total * share(box), work.y + to, 0);
    }
  }
  static A sum_of(S const* x, int count) {
    constexpr int is_long = 256;
    if (count >= is_long)
      return op::VectorLoops{}.template sum<A>(count, [x](int i) { return number<A>(x, i); });
    A sum = 0;
    PHYLLO_SIMD_SUM(16, sum)
    for (int i = 0; i < count; ++i) sum += number<A>(x, i);
    return sum;
  }
  static A larger_of(A value, A before) {
    return (value > before) | ((value != value) & (before == before)) ? value : before;
  }
  static A largest_of(S const* x, int count, A largest) {
    constexpr int width = lanes<A>;
    int i = 0;
    if (count >= width) {
      // In two variables, so that what is compared does not wait for the comparison before.
      Vector<A> even = InstructionSet::load(x), odd = even;
      auto no_number = even != even;
      for (; i + 2 * width <= count; i += 2 * width) {
        Vector<A> const a = InstructionSet::load(x + i), b = InstructionSet::load(x + i + width);
        no_number |= (a != a) | (b != b);
        even = a > even ? a : even;
        odd = b > odd ? b : odd;
      }
      even = odd > even ? odd : even;
      even = no_number ? Vector<A>{} + std::numeric_limits<A>::quiet_NaN() : even;
      A most[width];
      InstructionSet::store(most, even);
      for (int half = width / 2; half > 0; half /= 2)
        for (int l = 0; l < half; ++l) most[l] = larger_of(most[l + half], most[l]);
      largest = larger_of(most[0], largest);
    }
    for (; i < count; ++i) largest = larger_of(number<A>(x, i), largest);
    return largest;
  }
  static int count_equal(S const* x, int count, A largest) {
    int equal = 0;
    PHYLLO_SIMD_SUM(16, equal)
    for (int i = 0; i < count; ++i) {
      A const value = number<A>(x, i);
      equal += (value == largest) | ((value != value) & (largest != largest)) ? 1 : 0;
    }
    return equal;
  }
};

/// Vectors over the channels of a position.
template <op::ReductionKind Kind, class P> struct Kernels<op::Reduction<Kind>, P> {
  using Op = op::Reduction<Kind>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    Shape const &in = work.windows.input, &out = work.windows.output;
    long const rows = long(work.batch) * out.positions();
    if (rows == 0) return;
    int const pieces = worthy_pieces(exec, rows, in.size() / out.positions() + 1);
    launch(exec, label, pieces, reduction_forward<Kind, P>{work, pieces});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Backward<P> const& work) {
    using A = typename P::accumulate;
    A const share = work.windows.is_uniform() ? A(1) / A(work.windows.count(0)) : A(0);
    reduction_backward<Kind, P> body{work, 1, share};
    if (body.lines() == 0) return;
    body.pieces = worthy_pieces(exec, body.lines(),
                                work.windows.input.spatial[2] * work.windows.input.channels);
    launch(exec, label, body.pieces, body);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
