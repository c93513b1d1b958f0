// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/move.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

// Divides 32-bit numbers as such: a device has no instruction for others.
PHYLLO_INLINE long quotient(long at, int size) {
  return at <= 2147483647 ? long(int(at) / size) : at / size;
}

/// One work item: one element of the target. InOrder: every axis is whole and in order, as in a
/// transposition.
template <class P, bool InOrder> struct move_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Move::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    long const n = quotient(at, work.map.target_size);
    int const i = int(at - n * work.map.target_size);
    int const from = InOrder ? work.map.source_in_order(i) : work.map.source(i);
    A const x = from < 0 ? work.fill : A(work.x[n * work.map.source_size + from]);
    work.y[at] = S(work.accumulate ? A(work.y[at]) + x : x);
  }
};

/// One work item: one element of the source, the sum over a block of its copies.
template <class P> struct move_backward_copies {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Move::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    MoveMap const& map = work.map;
    int const channels = map.axis[3].extent;
    long const n = quotient(at, map.source_size);
    int const element = int(at - n * map.source_size);
    int const row = element / channels, rest = row / map.axis[2].source_extent;
    int const d = rest / map.axis[1].source_extent, h = rest - d * map.axis[1].source_extent;
    int const w = row - rest * map.axis[2].source_extent;
    S const* const d_y = work.d_y + n * map.target_size + w * map.axis[2].repeat * channels +
                         element - row * channels;
    A sum = 0;
    for (int i = d * map.axis[0].repeat; i < (d + 1) * map.axis[0].repeat; ++i)
      for (int j = h * map.axis[1].repeat; j < (h + 1) * map.axis[1].repeat; ++j)
        for (int k = 0; k < map.axis[2].repeat; ++k)
          sum += A(d_y[((i * map.axis[1].extent + j) * map.axis[2].extent + k) * channels]);
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + sum : sum);
  }
};

/// One work item: one element of the source, which gathers from the elements that copied it.
template <class P> struct move_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::Move::Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    MoveMap const& map = work.map;
    int const channels = map.axis[3].extent;
    long const n = quotient(at, map.source_size);
    int const element = int(at - n * map.source_size);
    int const row = element / channels, rest = row / map.axis[2].source_extent;
    int const plane = rest / map.axis[1].source_extent;
    MoveReaders const of_d = map.axis[0].readers(plane);
    MoveReaders const of_h = map.axis[1].readers(rest - plane * map.axis[1].source_extent);
    MoveReaders const of_w = map.axis[2].readers(row - rest * map.axis[2].source_extent);
    S const* const d_y = work.d_y + n * map.target_size + (element - row * channels);
    A sum = 0;
    for (int i = 0; i < of_d.ranges; ++i)
      for (int d = of_d.first[i]; d < of_d.last[i]; ++d)
        for (int j = 0; j < of_h.ranges; ++j)
          for (int h = of_h.first[j]; h < of_h.last[j]; ++h)
            for (int k = 0; k < of_w.ranges; ++k)
              for (int w = of_w.first[k]; w < of_w.last[k]; ++w)
                sum +=
                    A(d_y[long((d * map.axis[1].extent + h) * map.axis[2].extent + w) * channels]);
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + sum : sum);
  }
};

template <class P> struct Kernels<op::Move, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Move::Forward<P> const& work) {
    long const count = long(work.batch) * work.map.target_size;
    if (work.map.is_in_order())
      launch(exec, label, count, move_forward<P, true>{work});
    else
      launch(exec, label, count, move_forward<P, false>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, op::Move::Backward<P> const& work) {
    long const count = long(work.batch) * work.map.source_size;
    if (work.map.has_borders())
      launch(exec, label, count, move_backward<P>{work});
    else
      launch(exec, label, count, move_backward_copies<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
