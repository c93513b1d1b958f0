// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/sparse_product.hpp>

#include <cstddef>
#include <vector>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class P> struct Kernels<op::SparseProduct, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  // By scattered entries into a whole result, which is stored at the end.
  template <class Space>
  static void run(Space const& exec, std::string const&,
                  op::SparseProduct::Product<P> const& work) {
    wait(exec);
    auto const& a = work.matrix;
    std::size_t const size = std::size_t(a.rows) * std::size_t(work.channels);
    for (long g = 0; g < work.groups; ++g) {
      S const* const x = work.x + std::size_t(g) * size;
      S* const y = work.y + std::size_t(g) * size;
      std::vector<A> sum(size);
      for (long i = 0; i < a.rows; ++i)
        for (long k = a.row_map[i]; k < a.row_map[i + 1]; ++k)
          for (long c = 0; c < work.channels; ++c)
            sum[std::size_t(i * work.channels + c)] +=
                a.values[k] * A(x[long(a.entries[k]) * work.channels + c]);
      for (std::size_t at = 0; at < size; ++at)
        y[at] = S(work.accumulate ? A(y[at]) + sum[at] : sum[at]);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
