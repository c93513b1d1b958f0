// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/narrow_sums.hpp>
#include <phyllo/backend/host/source_rows.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// How a convolution of narrow groups is cut: all channels and columns of the result at a time, or
/// as many as leave the copied rows in a part of the second-level cache.
template <bool ToImage, class S, class A> struct RowPieces {
  using Rows = SourceRows<ToImage, S, A>;
  using Columns = ColumnClasses<ToImage>;

  ChannelSource<ToImage> source;
  NarrowSums<A> sums;
  int fewest = 1;    // results that are read at once
  int lines = 0;     // rows of the result that are copied, too
  int channels = 0;  // of the result, at a time
  int width = 0;     // columns of the result, likewise
  int slots = 0;     // rows of the source

  /// Chooses channels, width and slots. Returns whether a thread's memory holds what they take.
  bool fit() {
    int const fewest_slots = Rows::fewest_slots(source), most = Rows::slots_of(source);
    if (source.shape.groups == 1 || !sums.fits() || !Columns::fits(source.shape) ||
        fewest_slots > Rows::most_slots)
      return false;
    slots = most < fewest_slots ? fewest_slots : most < Rows::most_slots ? most : Rows::most_slots;
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

  /// The columns of the result from w on.
  Columns columns(int w) const {
    int const all = source.to().spatial[2];
    return Columns(source, fewest, w, w + width < all ? w + width : all);
  }
  /// Numbers of a copied row of the result.
  long line_size() const { return width * Rows::pitch_of(channels); }
  /// Channels from `first` on, at the most as many as are taken at a time.
  int count(int first) const {
    int const left = source.to().channels - first;
    return left < channels ? left : channels;
  }

 private:
  long bytes() const {
    int widest = 0;
    for (int w = 0; w < source.to().spatial[2]; w += width) {
      int const here = columns(w).width();
      widest = here > widest ? here : widest;
    }
    return long(sizeof(A)) * (sums.weights(channels) + lines * line_size() +
                              slots * widest * Rows::pitch_of(sums.read(channels)));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
