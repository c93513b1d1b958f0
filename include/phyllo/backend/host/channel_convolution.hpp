// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/gemm/convolution_epilogue.hpp>
#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/general_convolution.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Channels of a result at a time: their sums stay in registers.
inline constexpr int channel_vectors = 4;
template <class A> inline constexpr int channels_of_block = channel_vectors * lanes<A>;

/// What a convolution of narrow groups reads, from the grid or from the image: `members` channels
/// of a group for each channel of the result.
template <bool ToImage> struct ChannelSource {
  ConvolutionShape shape;
  static constexpr int most_rows = 64;  // rows of taps

  Shape const& from() const { return ToImage ? shape.grid : shape.image; }
  Shape const& to() const { return ToImage ? shape.image : shape.grid; }
  int members() const { return ToImage ? shape.grid_channels() : shape.image_channels(); }
  int results() const { return ToImage ? shape.image_channels() : shape.grid_channels(); }
  int channel(int o, int m) const { return o / results() * members() + m; }
  long weight(int t, int m, int o) const {
    return ToImage ? (long(t) * results() + o % results()) * shape.grid.channels + channel(o, m)
                   : (long(t) * members() + m) * shape.grid.channels + o;
  }
  /// What coordinate r of the result reads under tap t; -1: nothing.
  int read(int d, int r, int t) const {
    return ToImage ? shape.window(d, r, t) : shape.read(d, shape.place(d, r, t));
  }
  /// First and last row that rows [begin, end) of the result read; last < first: none.
  struct Rows {
    int first, last;
    int count() const { return last < first ? 0 : last - first + 1; }
  };
  Rows rows(int begin, int end) const {
    Rows range{from().spatial[1], -1};
    for (int r = begin; r < end; ++r)
      for (int t = 0; t < shape.size[1]; ++t) {
        int const at = read(1, r, t);
        if (at < 0) continue;
        range.first = at < range.first ? at : range.first;
        range.last = at > range.last ? at : range.last;
      }
    return range;
  }
  /// Whether kernels can read the channels from the tensor without packing.
  template <class S, class A> bool in_place(int first) const {
    return std::is_same_v<S, A> && members() == 1 && results() == 1 &&
           first + channels_of_block<A> <= to().channels;
  }
};

/// Numbers of some rows of a source side by side as they are multiplied, in a thread's memory.
///
/// shape    (planes, rows, width, members, channels_of_block); zeros behind the last channel
template <bool ToImage, class S, class A> struct ChannelRows {
  static constexpr int block = channels_of_block<A>;
  ChannelSource<ToImage> const& source;
  A* memory = nullptr;
  typename ChannelSource<ToImage>::Rows range = {};

  long row_size() const { return long(source.from().spatial[2]) * source.members() * block; }
  long size(int rows) const { return source.shape.size[0] * rows * row_size(); }

  /// The planes that plane `result` reads, rows `range` of them, for channels from `first` on.
  void load(S const* sample, int result, int first, int count) {
    Shape const& from = source.from();
    for (int td = 0; td < source.shape.size[0]; ++td) {
      int const plane = source.read(0, result, td);
      if (plane < 0) continue;
      for (int r = range.first; r <= range.last; ++r)
        for (int w = 0; w < from.spatial[2]; ++w) {
          S const* const x =
              sample + ((long(plane) * from.spatial[1] + r) * from.spatial[2] + w) * from.channels;
          A* const to = at(td, r) + long(w) * source.members() * block;
          for (int m = 0; m < source.members(); ++m) one(x, to + m * block, first, count, m);
        }
    }
  }
  A* at(int td, int row) const {
    return memory + (long(td) * range.count() + row - range.first) * row_size();
  }

 private:
  void one(S const* x, A* to, int first, int count, int m) const {
    int const results = source.results(), members = source.members();
    int o = 0;
    // Whole groups of as many channels: the same number for each of a group's results.
    for (int c = source.channel(first, m); first % results == 0 && o + results <= count;
         c += members, o += results) {
      A const value = number<A>(x, c);
      for (int i = 0; i < results; ++i) to[o + i] = value;
    }
    for (; o < count; ++o) to[o] = number<A>(x, source.channel(first + o, m));
    for (; o < block; ++o) to[o] = A(0);
  }
};

/// A convolution of narrow groups, either way: a block of channels of one position at a time. One
/// work item: a run of samples, blocks of channels and bands of rows.
template <class Chain, class P, bool ToImage> struct channel_convolution {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using V = Vector<A>;
  using I = InstructionSet;
  static constexpr int block = channels_of_block<A>;
  static constexpr int many = InstructionSet::registers >= 32 ? 4 : 2;  // positions at a time

  int batch = 0;
  ChannelSource<ToImage> source;
  S const* x = nullptr;
  S const* weight = nullptr;
  op::ConvolutionResult<P> result;
  op::WorkMemory memory;
  int band = 1;  // rows of the result that are computed from rows side by side
  int workers = 1;

  /// Largest number of result rows whose packed sources fit a slice of work memory and whose
  /// unpacked sources fit the second-level cache; 0 if a single row exceeds the slice.
  static int band_of(ChannelSource<ToImage> const& source) {
    constexpr long cached = 256 << 10;  // bytes
    ChannelRows<ToImage, S, A> const rows{source};
    long const room = (long(product_bytes) - weights_size(source) * long(sizeof(A)) -
                       tables_size(source) * long(sizeof(int)) - 256) /
                      long(sizeof(A));
    long const row = long(source.from().spatial[2]) * source.from().channels * long(sizeof(S));
    int const height = source.to().spatial[1];
    if (source.shape.size[0] * source.shape.size[1] > ChannelSource<ToImage>::most_rows) return 0;
    for (int band = height; band > 0; band = band / 2) {
      bool fits = true;
      for (int r = 0; r < height && fits; r += band) {
        int const count = source.rows(r, r + band < height ? r + band : height).count();
        fits = rows.size(count) <= room && (band == 1 || count * row <= cached);
      }
      if (fits) return band;
    }
    return 0;
  }

  void operator()(int worker) const {
    Shape const& to = source.to();
    int const blocks = (to.channels + block - 1) / block;
    int const bands = (to.spatial[1] + band - 1) / band;
    std::byte* const bytes = memory.slice(worker);
    A* const weights = reinterpret_cast<A*>(bytes);
    int* const table = reinterpret_cast<int*>(weights + weights_size(source));
    A* const numbers = weights + weights_size(source) +
                       (tables_size(source) * long(sizeof(int)) / 64 + 1) * 64 / long(sizeof(A));
    fill_table(table);
    long const size = block_size(source);
    bool const kept = holds_all(source);
    for (int c = 0; kept && c < blocks; ++c) load_weights(c * block, weights + c * size);
    long const items = long(batch) * to.spatial[0] * bands;
    // Without packing, all blocks of a position are computed together to read memory in order.
    bool const together =
        kept && to.channels % block == 0 && source.template in_place<S, A>(to.channels - block);
    for (long i = items * worker / workers; i < items * (worker + 1) / workers; ++i)
      for (int c = 0; c < (together ? 1 : blocks); ++c) {
        if (!kept) load_weights(c * block, weights);
        run(int(i / (to.spatial[0] * bands)), c * block, together ? blocks : 1,
            int(i / bands) % to.spatial[0], int(i % bands) * band,
            kept ? weights + c * size : weights, table, numbers);
      }
  }

 private:
  // Weights of a block of channels; those of all blocks stay where they take an eighth of a slice.
  static long block_size(ChannelSource<ToImage> const& source) {
    return long(source.shape.taps()) * source.members() * block;
  }
  static bool holds_all(ChannelSource<ToImage> const& source) {
    return all_size(source) * long(sizeof(A)) <= long(product_bytes) / 8;
  }
  static long all_size(ChannelSource<ToImage> const& source) {
    return (source.to().channels + block - 1) / block * block_size(source);
  }
  static long weights_size(ChannelSource<ToImage> const& source) {
    return holds_all(source) ? all_size(source) : block_size(source);
  }
  // For each column: how many taps read something, how many columns from there on have the same
  // taps, each a step further; then (tap, column) of each tap.
  static long table_line(ChannelSource<ToImage> const& source) {
    return 2 + 2 * source.shape.size[2];
  }
  static long tables_size(ChannelSource<ToImage> const& source) {
    return source.to().spatial[2] * table_line(source);
  }
  void fill_table(int* table) const {
    int const step = ToImage ? 1 : source.shape.stride[2], width = source.to().spatial[2];
    long const size = table_line(source);
    for (int w = width - 1; w >= 0; --w) {
      int* const line = table + w * size;
      line[0] = 0;
      for (int t = 0; t < source.shape.size[2]; ++t) {
        int const at = source.read(2, w, t);
        if (at < 0) continue;
        line[2 + 2 * line[0]] = t;
        line[3 + 2 * line[0]++] = at;
      }
      bool alike = w + 1 < width && line[size] == line[0];
      for (int k = 0; alike && k < line[0]; ++k)
        alike = line[size + 2 + 2 * k] == line[2 + 2 * k] &&
                line[size + 3 + 2 * k] == line[3 + 2 * k] + step;
      line[1] = alike ? 1 + line[size + 1] : 1;
    }
  }
  void load_weights(int first, A* weights) const {
    int const count = counted(first);
    for (int t = 0; t < source.shape.taps(); ++t)
      for (int m = 0; m < source.members(); ++m, weights += block)
        for (int o = 0; o < block; ++o)
          weights[o] = o < count ? A(weight[source.weight(t, m, first + o)]) : A(0);
  }
  int counted(int first) const {
    int const left = source.to().channels - first;
    return left < block ? left : block;
  }

  // A row of taps that reads something.
  struct Row {
    A const* numbers;  // of its first column
    A const* weights;
  };

  void run(int n, int first, int blocks, int plane, int begin, A const* weights, int const* table,
           A* numbers) const {
    Shape const& from = source.from();
    Shape const& to = source.to();
    int const end = begin + band < to.spatial[1] ? begin + band : to.spatial[1];
    S const* const sample = x + long(n) * from.size();
    ChannelRows<ToImage, S, A> rows{source, numbers, source.rows(begin, end)};
    bool const in_place = source.template in_place<S, A>(first);
    if (!in_place) rows.load(sample, plane, first, counted(first));
    int const pitch = in_place ? from.channels : source.members() * block;
    ConvolutionEpilogue<Chain, P> const epilogue{result, {}, to.channels, 0, to.positions()};
    for (int h = begin; h < end; ++h) {
      Row row[ChannelSource<ToImage>::most_rows];
      int count = 0;
      for (int td = 0; td < source.shape.size[0]; ++td) {
        int const d = source.read(0, plane, td);
        for (int th = 0; d >= 0 && th < source.shape.size[1]; ++th) {
          int const at = source.read(1, h, th);
          if (at < 0) continue;
          row[count].weights = weights + long(td * source.shape.size[1] + th) *
                                             source.shape.size[2] * source.members() * block;
          if constexpr (std::is_same_v<S, A>)
            row[count].numbers =
                in_place
                    ? sample + (long(d) * from.spatial[1] + at) * from.spatial[2] * from.channels +
                          first
                    : rows.at(td, at);
          else
            row[count].numbers = rows.at(td, at);
          ++count;
        }
      }
      long const place = ((long(n) * to.spatial[0] + plane) * to.spatial[1] + h) * to.spatial[2];
      for (int w = 0, next; w < to.spatial[2]; w = next) {
        int const* const columns = table + w * table_line(source);
        next = w + (columns[1] >= many ? many : 1);
        for (int c = 0; c < blocks; ++c)
          if (columns[1] >= many)
            positions<many>(row, count, c, columns, pitch, first, epilogue, place + w);
          else
            positions<1>(row, count, c, columns, pitch, first, epilogue, place + w);
      }
    }
  }

  // Neighbours that have the same taps, `step` columns further each; weights are read once for
  // them.
  template <int Count, class Epilogue>
  void positions(Row const* row, int rows, int c, int const* columns, int pitch, int first,
                 Epilogue const& epilogue, long place) const {
    long const weights_from = c * block_size(source), numbers_from = long(c) * block;
    first += c * block;
    int const count = counted(first), members = source.members();
    long const step = long(ToImage ? 1 : source.shape.stride[2]) * pitch;
    alignas(64) A sum[Count][block];
    for (int o = 0; o < block; ++o)
      sum[0][o] = o < count && result.bias != nullptr ? A(result.bias[first + o]) : A(0);
    V total[Count][channel_vectors];
    PHYLLO_UNROLL_ON_HOST
    for (int i = 0; i < Count; ++i) PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < channel_vectors; ++v) total[i][v] = I::load(sum[0] + v * lanes<A>);
    for (int r = 0; r < rows; ++r)
      for (int k = 0; k < columns[0]; ++k) {
        A const* a = row[r].numbers + numbers_from + long(columns[3 + 2 * k]) * pitch;
        A const* w = row[r].weights + weights_from + long(columns[2 + 2 * k]) * members * block;
        for (int m = 0; m < members; ++m, a += block, w += block) {
          PHYLLO_UNROLL_ON_HOST
          for (int v = 0; v < channel_vectors; ++v) {
            V const weights = I::load(w + v * lanes<A>);
            PHYLLO_UNROLL_ON_HOST
            for (int i = 0; i < Count; ++i)
              total[i][v] =
                  I::multiply_add(I::load(a + i * step + v * lanes<A>), weights, total[i][v]);
          }
        }
      }
    for (int i = 0; i < Count; ++i) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < channel_vectors; ++v) I::store(sum[i] + v * lanes<A>, total[i][v]);
      epilogue.finish(sum[i], place + i, first, count);
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
