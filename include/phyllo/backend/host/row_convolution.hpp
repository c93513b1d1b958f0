// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/convolution_epilogue.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/row_pieces.hpp>
#include <phyllo/op/general_convolution.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A convolution of narrow groups, either way, from rows of the source that are copied once, with
/// what is beyond their borders. One work item: a run of rows of results.
///
/// cost     one copy of each number; products from the first two levels of the cache
template <class Chain, class P, bool ToImage> struct row_convolution {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Rows = SourceRows<ToImage, S, A>;
  using Columns = ColumnClasses<ToImage>;
  using Sums = NarrowSums<A>;
  using Row = typename RowTaps<A>::Row;
  static constexpr int block = channels_of_block<A>;

  int batch = 0;
  RowPieces<ToImage, S, A> pieces;
  S const* x = nullptr;
  S const* weight = nullptr;
  op::ConvolutionResult<P> result;
  op::WorkMemory memory;
  int workers = 1;

  void operator()(int worker) const {
    Sums const& sums = pieces.sums;
    Shape const& to = pieces.source.to();
    long const lines = long(batch) * to.spatial[0] * to.spatial[1];
    long const begin = lines * worker / workers, end = lines * (worker + 1) / workers;
    A* const weights = reinterpret_cast<A*>(memory.slice(worker));
    for (int c = 0; c < to.channels; c += pieces.channels) {
      int const count = pieces.count(c);
      sums.load_weights(pieces.source, weight, c, count, weights);
      for (int w = 0; w < to.spatial[2]; w += pieces.width) {
        Columns const columns = pieces.columns(w);
        Rows rows(columns, pieces.slots, sums.read(pieces.channels),
                  weights + sums.weights(pieces.channels));
        for (long l = begin; l < end; ++l) run(l, c, count, columns, weights, rows);
      }
    }
  }

 private:
  // Row `line` of the results, channels [first, first + count).
  void run(long line, int first, int count, Columns const& columns, A const* weights,
           Rows& rows) const {
    Sums const& sums = pieces.sums;
    auto const& source = pieces.source;
    Row row[Rows::most_slots], at[Rows::most_slots];
    int const used = rows.read(source, line, x, sums.read(first), sums.read(count), row);
    long const tap = sums.tap_weights(count);
    for (int i = 0; i < columns.count(); ++i) {
      auto const of = columns[i];
      RowTaps<A> const taps{at,
                            used,
                            of.taps,
                            columns.tap() * rows.pitch,
                            of.weight_step * tap,
                            columns.apart(),
                            sums.members,
                            sums.results,
                            sums.taps};
      for (int k = 0, end; k < of.count; k = end) {
        // The last ones are read with those before them, which are results already.
        end = of.count - k < sums.neighbours() ? of.count : k + sums.neighbours();
        int const reads = sums.reads(end - k), from_k = end < reads ? 0 : end - reads;
        long const column = of.origin + long(from_k) * columns.apart() * columns.tap();
        for (int r = 0; r < used; ++r)
          at[r] = {row[r].numbers + column * rows.pitch,
                   weights + (row[r].number * source.shape.size[2] + of.first_weight) * tap,
                   row[r].number};
        some(taps, k - from_k, end - from_k, first, count,
             line * source.to().spatial[2] + of.first + long(from_k) * columns.distance(),
             columns.distance());
      }
    }
  }

  // The results of neighbours [begin, end), `distance` apart.
  void some(RowTaps<A> const& taps, int begin, int end, int first, int count, long place,
            int distance) const {
    Sums const& sums = pieces.sums;
    Shape const& to = pieces.source.to();
    int const all = to.channels, piece = sums.channels();
    ConvolutionEpilogue<Chain, P> const epilogue{result, {}, all, 0, to.positions()};
    int done = 0;
    if constexpr (std::is_same_v<S, A>)
      if (epilogue.only_stores() && result.bias == nullptr) {
        done = count / lanes<A> * lanes<A>;
        sums.sum(taps, 0, done, nullptr, begin, end, result.y + place * all + first,
                 long(distance) * all);
      }
    alignas(64) A bias[block], tile[Sums::most][block];
    for (; done < count; done += piece) {
      int const some = count - done < piece ? count - done : piece;
      for (int c = 0; result.bias != nullptr && c < block; ++c)
        bias[c] = c < some ? A(result.bias[first + done + c]) : A(0);
      sums.sum(taps, done, some, result.bias != nullptr ? bias : nullptr, begin, end, tile[0],
               block);
      for (int k = begin; k < end; ++k)
        epilogue.finish(tile[k], place + long(k) * distance, first + done, some);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
