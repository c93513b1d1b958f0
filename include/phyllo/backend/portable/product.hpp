// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/product.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: one element of the result.
template <class P> struct product_forward {
  using A = typename P::accumulate;
  op::Product::Forward<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    int const j = int(item % work.columns);
    int const i = int(item / work.columns % work.rows);
    int const h = int(item / work.columns / work.rows % work.heads);
    long const n = item / work.columns / work.rows / work.heads;
    A sum = 0;
    for (int k = 0; k < work.depth; ++k)
      sum += A(work.a[work.a_place.at(n, h, i, k)]) * A(work.b[work.b_place.at(n, h, k, j)]);
    sum *= work.factor;
    if (work.ignores(n, i, j)) sum = -Kokkos::Experimental::infinity_v<A>;
    auto& y = work.y[work.y_place.at(n, h, i, j)];
    y = typename P::storage(work.accumulate ? A(y) + sum : sum);
  }
};

template <class P> struct Kernels<op::Product, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::Product::Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.heads * work.rows * work.columns,
           product_forward<P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
