// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/is_processor.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/sparse_product.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

/// One work item: `Block` channels of one row. On a device neighbouring work items are neighbouring
/// channels, so that a warp reads whole rows.
template <class P, int Block> struct sparse_product {
  using A = typename P::accumulate;
  using S = typename P::storage;
  op::SparseProduct::Product<P> work;

  PHYLLO_FUNCTION void operator()(long item) const {
    long const blocks = blocks_of(work.channels, Block), row = item / blocks;
    int const first = int(item % blocks) * Block;
    long const group = row / work.matrix.rows, i = row % work.matrix.rows;
    S const* const x = work.x + group * work.matrix.rows * work.channels + first;
    S* const y = work.y + row * work.channels + first;
    if (work.channels - first >= Block)
      multiply<true>(i, x, y, Block);
    else
      multiply<false>(i, x, y, work.channels - first);
  }

 private:
  // Whole: a constant number of channels, which compilers keep in vector registers.
  template <bool Whole> PHYLLO_FUNCTION void multiply(long i, S const* x, S* y, int rest) const {
    int const count = Whole ? Block : rest;
    A sum[Block] = {};
    std::int32_t const last = work.matrix.row_map[i + 1];
    for (std::int32_t k = work.matrix.row_map[i]; k < last; ++k) {
      A const a = work.matrix.values[k];
      S const* const from = x + long(work.matrix.entries[k]) * work.channels;
      for (int c = 0; c < count; ++c) sum[c] += a * A(from[c]);
    }
    for (int c = 0; c < count; ++c) y[c] = S(work.accumulate ? A(y[c]) + sum[c] : sum[c]);
  }
};

template <class P> struct Kernels<op::SparseProduct, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  op::SparseProduct::Product<P> const& work) {
    constexpr int channels = is_processor<Space> ? block : 1;
    launch(exec, label, work.groups * work.matrix.rows * blocks_of(work.channels, channels),
           sparse_product<P, channels>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
