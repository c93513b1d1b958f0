// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/segment/result_gradient.hpp>
#include <phyllo/backend/host/segment/segment_layout.hpp>
#include <phyllo/backend/host/segment/tile_prefetch.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// What a tile of a backward pass asks memory for between its blocks: the input of the next tile
/// and the gradient of its result, and lines of its own where a first layer without products writes
/// the gradient of the input.
template <class Op, class Layout> struct PiecePrefetch {
  using A = typename Layout::A;
  using Result = ResultGradient<Op, A>;
  static constexpr int inputs = Layout::in_count[0];
  static constexpr int outputs = Layout::out_count[Layout::layers - 1];

  TilePrefetch<false> input, gradient, normalized;
  TilePrefetch<true> written;

  /// A tile of `rows` samples from n on, with `next` samples behind it, in `calls` calls.
  template <class Work>
  PiecePrefetch(Work const& work, ExternalTensor const& source, long n, int rows, int next,
                int calls)
      : input(source, n + rows, next, inputs, calls),
        gradient(Result::tensor(work, outputs), n + rows, next, Result::channels(outputs), calls),
        normalized(values(work), n + rows, next, outputs, calls),
        written(input_gradient(work), n, rows, inputs, calls) {}

  PHYLLO_INLINE_ON_HOST void operator()() {
    input();
    gradient();
    normalized();
    written();
  }

 private:
  template <class Work> static ExternalTensor values(Work const& work) {
    if constexpr (Result::numbers_of_channel > 0)
      return rows_of(work.y, outputs);
    else
      return {};
  }
  template <class Work> static ExternalTensor input_gradient(Work const& work) {
    if constexpr (op::is_batch_normalization<typename Layout::template Op<0>>)
      if (work.d_x != nullptr) return rows_of(work.d_x, inputs);
    return {};
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
