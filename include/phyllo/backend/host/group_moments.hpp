// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_units.hpp>
#include <phyllo/backend/host/simd/numbers.hpp>
#include <phyllo/op/row_loops.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Count, mean and centred squares of a part of a group.
template <class A> struct GroupMoments {
  A count = 0, mean = 0, squares = 0;

  /// source   Chan, Golub and LeVeque, "Updating Formulae and a Pairwise Algorithm for Computing
  ///          Sample Variances", 1979
  void add(GroupMoments const& other) {
    A const total = count + other.count, apart = other.mean - mean;
    mean += apart * (other.count / total);
    squares += other.squares + apart * apart * (count * other.count / total);
    count = total;
  }
};

/// Sums of each channel of a block over its positions, and its squares around the channel's mean:
/// by a few rows at a time, which are read from the first-level cache the second time.
template <class P> struct ChannelMoments {
  using A = typename P::accumulate;
  using S = typename P::storage;
  static constexpr int rows_at_a_time = 64;
  A mean[group_lanes], squares[group_lanes];

  void measure(GroupBlock const& block, S const* x) {
    int const positions = block.units.positions, step = rows_at_a_time * block.units.together;
    for (int begin = 0; begin < positions; begin += step) {
      int const end = positions - begin < step ? positions : begin + step;
      A sum[group_lanes] = {}, square[group_lanes] = {}, centre[group_lanes];
      block.each(begin, end, [&](int rows, long at, long stride, int numbers) {
        add_number_rows(x + at, rows, stride, numbers, sum);
      });
      block.fold(sum);
      for (int c = 0; c < block.count; ++c) centre[c] = sum[c] / A(end - begin);
      block.spread(centre);
      block.each(begin, end, [&](int rows, long at, long stride, int numbers) {
        add_squares(x + at, rows, stride, numbers, centre, square);
      });
      block.fold(square);
      A const total = A(end), here = A(end - begin), before = A(begin);
      for (int c = 0; c < block.count; ++c) {
        A const apart = begin == 0 ? A(0) : centre[c] - mean[c];
        mean[c] = begin == 0 ? centre[c] : mean[c] + apart * (here / total);
        squares[c] =
            (begin == 0 ? A(0) : squares[c]) + square[c] + apart * apart * (before * here / total);
      }
    }
  }
  /// Those of channels [begin, end) of the block together.
  GroupMoments<A> together(int positions, int begin, int end) const {
    op::VectorLoops const loops;
    A const* const m = mean + begin;
    A const* const s = squares + begin;
    A const centre =
        loops.template sum<A>(end - begin, [m](int c) { return m[c]; }) / A(end - begin);
    A const square = loops.template sum<A>(end - begin, [m, s, centre, positions](int c) {
      return s[c] + A(positions) * (m[c] - centre) * (m[c] - centre);
    });
    return {A(positions) * A(end - begin), centre, square};
  }

 private:
  // As add_number_rows.
  static void add_squares(S const* x, int rows, long stride, int numbers, A const* centre,
                          A* square) {
    int r = 0;
    for (; r + 4 <= rows; r += 4, x += 4 * stride) {
      S const *const b = x + stride, *const c = b + stride, *const d = c + stride;
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        A const e = number<A>(x, i) - centre[i], f = number<A>(b, i) - centre[i];
        A const g = number<A>(c, i) - centre[i], h = number<A>(d, i) - centre[i];
        square[i] += (e * e + f * f) + (g * g + h * h);
      }
    }
    for (; r < rows; ++r, x += stride) {
      PHYLLO_SIMD(16)
      for (int i = 0; i < numbers; ++i) {
        A const e = number<A>(x, i) - centre[i];
        square[i] += e * e;
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
