// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/product_epilogue.hpp>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// What the library has no function for, as a pass over stored sums. One work item: one row.
template <class Chain, class P> struct epilogue_rows {
  using A = typename P::accumulate;
  using S = typename P::storage;

  host::ForwardEpilogue<Chain, P> epilogue;
  S const* sums = nullptr;  // (rows, columns), with bias; may be where the result goes
  long columns = 0;

  void operator()(long row) const {
    constexpr int together = 256;
    alignas(64) A line[together];
    for (long c = 0; c < columns; c += together) {
      int const count = int(columns - c < together ? columns - c : together);
      for (int i = 0; i < together; ++i) line[i] = 0;
      host::add_numbers(sums + row * columns + c, count, line);
      epilogue.template store<together>(line, row, 1, c, count);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
