// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/product.hpp>

#include <limits>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::Product, P> {
  using A = typename P::accumulate;

  template <class Space>
  static void run(Space const& exec, std::string const&, op::Product::Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int h = 0; h < work.heads; ++h)
        for (int i = 0; i < work.rows; ++i)
          for (int j = 0; j < work.columns; ++j) {
            A sum = 0;
            for (int k = 0; k < work.depth; ++k)
              sum +=
                  A(work.a[work.a_place.at(n, h, i, k)]) * A(work.b[work.b_place.at(n, h, k, j)]);
            sum *= work.factor;
            if (work.ignores(n, i, j)) sum = -std::numeric_limits<A>::infinity();
            auto& y = work.y[work.y_place.at(n, h, i, j)];
            y = typename P::storage(work.accumulate ? A(y) + sum : sum);
          }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
