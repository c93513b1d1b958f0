// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/move.hpp>

#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Move, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Move::Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.map.target_size; ++i) {
        int const from = work.map.source(i);
        A const x = from < 0 ? work.fill : A(work.x[long(n) * work.map.source_size + from]);
        S& y = work.y[long(n) * work.map.target_size + i];
        y = S(work.accumulate ? A(y) + x : x);
      }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Move::Backward<P> const& work) {
    wait(exec);
    MoveMap const& map = work.map;
    for (int n = 0; n < work.batch; ++n) {
      std::vector<A> sum(std::size_t(map.source_size));
      for (int i = 0; i < map.target_size; ++i)
        if (map.source(i) >= 0)
          sum[std::size_t(map.source(i))] += A(work.d_y[long(n) * map.target_size + i]);
      for (int j = 0; j < map.source_size; ++j) {
        S& d_x = work.d_x[long(n) * map.source_size + j];
        d_x = S(work.accumulate ? A(d_x) + sum[std::size_t(j)] : sum[std::size_t(j)]);
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
