// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/group_gradients.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/row_pieces.hpp>
#include <phyllo/backend/host/sliding_gradients.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of narrow groups, row by row, from rows that are copied once. One work
/// item: one block of samples and rows of the grid, whose sums are a row of the workspace.
template <class Op, class P> struct row_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Rows = SourceRows<false, S, A>;
  using Columns = ColumnClasses<false>;

  typename Op::template BackwardParameters<P> work;
  RowPieces<false, S, A> pieces;
  int workers = 1;

  void operator()(int worker) const {
    A* const memory = reinterpret_cast<A*>(work.memory.slice(worker));
    each_piece(worker, workers, Op::weight_blocks, [&](int b) {
      for (int c = 0; c < work.shape.grid.channels; c += pieces.channels) run(b, c, memory);
    });
  }

 private:
  // Block b of the rows of the grid, channels from `first` on.
  void run(int b, int first, A* total) const {
    int const count = pieces.count(first);
    long const size = pieces.sums.weights(pieces.channels);
    for (long i = 0; i < size; ++i) total[i] = A(0);
    for (int w = 0; w < work.shape.grid.spatial[2]; w += pieces.width)
      add(b, first, count, pieces.columns(w), total);
    pieces.sums.store_weights(pieces.source, total, first, count,
                              work.partial + b * work.shape.weights());
  }
  void add(int b, int first, int count, Columns const& columns, A* total) const {
    NarrowSums<A> const& sums = pieces.sums;
    Shape const& to = work.shape.grid;
    long const lines = long(work.batch) * to.spatial[0] * to.spatial[1];
    long const pitch = Rows::pitch_of(pieces.channels);
    A* const line = total + sums.weights(pieces.channels);
    Rows rows(columns, pieces.slots, sums.read(pieces.channels), line + pieces.line_size());
    for (long l = lines * b / Op::weight_blocks; l < lines * (b + 1) / Op::weight_blocks; ++l) {
      S const* const grid = work.grid + l * to.spatial[2] * to.channels + first;
      for (int w = columns.begin(); w < columns.end(); ++w)
        Rows::copy_line(grid + long(w) * to.channels, count, line + (w - columns.begin()) * pitch,
                        pitch);
      typename RowWindows<A>::Row row[Rows::most_slots];
      int const used =
          rows.read(pieces.source, l, work.image, sums.read(first), sums.read(count), row);
      RowWindows<A> const windows{row,
                                  used,
                                  work.shape.size[2],
                                  columns.tap() * rows.pitch,
                                  work.shape.stride[2] * rows.pitch,
                                  line,
                                  pitch,
                                  columns.end() - columns.begin(),
                                  sums.members,
                                  sums.results,
                                  sums.taps};
      if (sums.depthwise)
        SlidingGradients<A>::add(windows, sums.tap_weights(count), total);
      else
        GroupGradients<A>::add(windows, count, total);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
