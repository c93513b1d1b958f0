// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/position.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one channel of one position, in all samples of a block.
template <class Work> struct position_forward {
  Work work;
  int blocks;

  PHYLLO_FUNCTION void operator()(long item) const {
    long const size = long(work.positions) * work.channels, place = item % size;
    long const b = item / size;
    int const c = int(place % work.channels);
    auto const numbers = work.numbers(int(place / work.channels), c);
    for (long n = work.batch * b / blocks; n < work.batch * (b + 1) / blocks; ++n)
      work.write(n * size + place, c, numbers);
  }
};

/// One work item: one number of the table.
template <class Work, class A> struct position_backward_parameters {
  Work work;
  PHYLLO_FUNCTION void operator()(long i) const {
    A sum = 0;
    for (long n = 0; n < work.batch; ++n) sum += A(work.d_y[n * work.size + i]);
    work.d_table[i] = sum;
  }
};

template <op::PositionKind Kind, class P> struct Kernels<op::Position<Kind>, P> {
  using Forward = typename op::Position<Kind>::template Forward<P>;
  using Backward = typename op::Position<Kind>::template BackwardParameters<P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label, Forward const& work) {
    int const blocks = work.batch < 16 ? work.batch : 16;
    launch(exec, label, long(blocks) * work.positions * work.channels,
           position_forward<Forward>{work, blocks});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label, Backward const& work) {
    launch(exec, label, work.size,
           position_backward_parameters<Backward, typename P::accumulate>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
