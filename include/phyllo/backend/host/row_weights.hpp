// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/group_gradients.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/narrow_sums.hpp>
#include <phyllo/backend/host/sliding_gradients.hpp>
#include <phyllo/backend/host/source_rows.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of narrow groups, row by row, from rows that are copied once. One work
/// item: one block of samples and rows of the grid, whose sums are a row of the workspace.
///
template <class Op, class P> struct row_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Source = ChannelSource<false>;
  using Rows = SourceRows<false, S, A>;
  using Columns = ColumnClasses<false>;
  using Sums = NarrowSums<A>;

  typename Op::template BackwardParameters<P> work;
  Source source;
  Sums sums;         // which groups there are, and in which order their weights
  int channels = 0;  // of the grid, at a time
  int width = 0;     // columns of the grid, likewise
  int slots = 0;     // rows of the image
  int workers = 1;

  /// As of row_convolution.
  bool fits() {
    int const fewest = Rows::fewest_slots(source), most = Rows::slots_of(source);
    if (source.shape.groups == 1 || !sums.fits() || fewest > Rows::most_slots) return false;
    slots = most < fewest ? fewest : most < Rows::most_slots ? most : Rows::most_slots;
    int const piece = sums.channels();
    for (long const room : {cached_rows, long(product_bytes)}) {
      channels = source.to().channels;
      width = source.to().spatial[2];
      while (bytes() > room && channels > piece)
        channels = (channels / 2 + piece - 1) / piece * piece;
      while (bytes() > room && width > 1) width = (width + 1) / 2;
      if (bytes() <= room) return true;
    }
    return false;
  }

  void operator()(int worker) const {
    A* const memory = reinterpret_cast<A*>(work.memory.slice(worker));
    each_piece(worker, workers, Op::weight_blocks, [&](int b) {
      for (int c = 0; c < source.to().channels; c += channels) run(b, c, memory);
    });
  }

 private:
  Columns columns(int w) const {
    int const all = source.to().spatial[2];
    return Columns(source, 1, w, w + width < all ? w + width : all);
  }
  long line_size() const { return width * Rows::pitch_of(channels); }
  long widest() const {
    int most = 0;
    for (int w = 0; w < source.to().spatial[2]; w += width) {
      int const here = columns(w).width();
      most = here > most ? here : most;
    }
    return most;
  }
  long bytes() const {
    return long(sizeof(A)) * (sums.weights(channels) + line_size() +
                              slots * widest() * Rows::pitch_of(sums.read(channels)));
  }

  // Block b of the rows of the grid, channels from `first` on.
  void run(int b, int first, A* total) const {
    Shape const& to = source.to();
    int const count = to.channels - first < channels ? to.channels - first : channels;
    long const size = sums.weights(channels);
    for (long i = 0; i < size; ++i) total[i] = A(0);
    for (int w = 0; w < to.spatial[2]; w += width) add(b, first, count, columns(w), total);
    sums.store_weights(source, total, first, count, work.partial + b * work.shape.weights());
  }
  void add(int b, int first, int count, Columns const& columns, A* total) const {
    Shape const& to = source.to();
    long const lines = long(work.batch) * to.spatial[0] * to.spatial[1];
    long const pitch = Rows::pitch_of(channels);
    A* const line = total + sums.weights(channels);
    Rows rows(columns, slots, sums.read(channels), line + line_size());
    for (long l = lines * b / Op::weight_blocks; l < lines * (b + 1) / Op::weight_blocks; ++l) {
      S const* const grid = work.grid + l * to.spatial[2] * to.channels + first;
      for (int w = columns.begin(); w < columns.end(); ++w)
        Rows::copy_line(grid + long(w) * to.channels, count, line + (w - columns.begin()) * pitch,
                        pitch);
      typename RowWindows<A>::Row row[Rows::most_slots];
      int const used = rows.read(source, l, work.image, sums.read(first), sums.read(count), row);
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
