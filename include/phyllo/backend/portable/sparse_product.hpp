// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/sparse_product.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// `Count` neighbouring channels of one row, a constant number so that the sums stay in registers.
template <class P> struct sparse_product {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::SparseProduct::Product<P> work;

  template <int Count> PHYLLO_INLINE void multiply(long row, int channel) const {
    long const group = work.groups == 1 ? 0 : row / work.matrix.rows;
    long const before = group * work.matrix.rows;  // rows of other graphs
    S const* const x = work.x + before * work.channels + channel;
    S* const y = work.y + row * work.channels + channel;
    A sum[Count] = {};
    std::int32_t const last = work.matrix.row_map[row - before + 1];
    for (std::int32_t k = work.matrix.row_map[row - before]; k < last; ++k) {
      A const a = work.matrix.values[k];
      S const* const from = x + long(work.matrix.entries[k]) * work.channels;
      for (int c = 0; c < Count; ++c) sum[c] += a * A(from[c]);
    }
    for (int c = 0; c < Count; ++c) y[c] = S(work.accumulate ? A(y[c]) + sum[c] : sum[c]);
  }
};

/// For processors. One work item: one row.
template <class P> struct sparse_product_rows {
  sparse_product<P> product;

  PHYLLO_FUNCTION void operator()(long row) const {
    int const channels = product.work.channels;
    int c = 0;
    for (; c + 2 * block <= channels; c += 2 * block) product.template multiply<2 * block>(row, c);
    if (c + block <= channels) product.template multiply<block>(row, c), c += block;
    if (c + 8 <= channels) product.template multiply<8>(row, c), c += 8;
    if (c + 4 <= channels) product.template multiply<4>(row, c), c += 4;
    if (channels - c == 3)
      product.template multiply<3>(row, c);
    else if (channels - c == 2)
      product.template multiply<2>(row, c);
    else if (channels - c == 1)
      product.template multiply<1>(row, c);
  }
};

/// For devices. One work item: one number, so that the threads of a warp read whole rows.
template <class P> struct sparse_product_numbers {
  sparse_product<P> product;

  PHYLLO_FUNCTION void operator()(long at) const {
    long const row = at / product.work.channels;
    product.template multiply<1>(row, int(at - row * product.work.channels));
  }
};

template <class P> struct Kernels<op::SparseProduct, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SparseProduct::Product<P> const& work) {
    long const rows = work.groups * work.matrix.rows;
    if constexpr (is_processor<Space>)
      launch(exec, label, rows, sparse_product_rows<P>{{work}});
    else
      launch(exec, label, rows * work.channels, sparse_product_numbers<P>{{work}});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
