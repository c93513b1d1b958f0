// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/lookup.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Lookup, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Lookup::Forward<P> const& work) {
    wait(exec);
    for (long r = 0; r < work.rows; ++r) {
      bool const found = work.x[r] >= 0 && work.x[r] < work.entries;
      for (int c = 0; c < work.channels; ++c)
        work.y[r * work.channels + c] = found ? work.weight[long(work.x[r]) * work.channels + c]
                                              : S(std::numeric_limits<A>::quiet_NaN());
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::Lookup::BackwardParameters<P> const& work) {
    wait(exec);
    for (long i = 0; i < long(work.entries) * work.channels; ++i) work.d_weight[i] = A(0);
    for (long r = 0; r < work.rows; ++r) {
      if (work.x[r] < 0 || work.x[r] >= work.entries) continue;
      for (int c = 0; c < work.channels; ++c)
        work.d_weight[long(work.x[r]) * work.channels + c] += A(work.d_y[r * work.channels + c]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
