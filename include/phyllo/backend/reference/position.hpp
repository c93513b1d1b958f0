// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/position.hpp>

namespace phyllo::inline PHYLLO_ISA::reference {

template <op::PositionKind Kind, class P> struct Kernels<op::Position<Kind>, P> {
  using Op = op::Position<Kind>;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int t = 0; t < work.positions; ++t)
        for (int c = 0; c < work.channels; ++c)
          work.write((long(n) * work.positions + t) * work.channels + c, c, work.numbers(t, c));
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template BackwardParameters<P> const& work) {
    wait(exec);
    for (int i = 0; i < work.size; ++i) {
      work.d_table[i] = 0;
      for (int n = 0; n < work.batch; ++n)
        work.d_table[i] += typename P::accumulate(work.d_y[long(n) * work.size + i]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
