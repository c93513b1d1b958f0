// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_source.hpp>
#include <phyllo/backend/host/gemm/convolution_epilogue.hpp>
#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/op/general_convolution.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// A convolution of narrow groups, either way, that row_convolution does not compute: a
/// block of channels of one position at a time, or of some neighbours that have the same taps. One
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

  /// Whether no block of channels is packed.
  static bool is_in_tensor(ChannelSource<ToImage> const& source) {
    int const last = (source.to().channels - 1) / block * block;
    return source.template reads<S, A>(last) != ChannelReads::packed;
  }
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
    bool const tensor = is_in_tensor(source);
    if (source.shape.size[0] * source.shape.size[1] > ChannelSource<ToImage>::most_rows) return 0;
    for (int band = height; band > 0; band = band / 2) {
      bool fits = true;
      for (int r = 0; r < height && fits; r += band) {
        int const count = source.rows(r, r + band < height ? r + band : height).count();
        fits = (tensor || rows.size(count) <= room) && (band == 1 || count * row <= cached);
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
    bool const together = kept && is_in_tensor(source);
    GroupPermutation<A> const group(source.members());
    for (long i = items * worker / workers; i < items * (worker + 1) / workers; ++i)
      for (int c = 0; c < (together ? 1 : blocks); ++c) {
        if (!kept) load_weights(c * block, weights);
        run(int(i / (to.spatial[0] * bands)), c * block, together ? blocks : 1,
            int(i / bands) % to.spatial[0], int(i % bands) * band,
            kept ? weights + c * size : weights, table, numbers, group);
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
  // Distance of columns of the result that may have the same taps.
  static int distance_of(ChannelSource<ToImage> const& source) {
    return ToImage ? source.shape.stride[2] : 1;
  }
  // For each column: how many taps read something, how many columns from there on, a distance
  // apart, have the same taps, each a step further; then (tap, column) of each tap.
  static long table_line(ChannelSource<ToImage> const& source) {
    return 2 + 2 * source.shape.size[2];
  }
  static long tables_size(ChannelSource<ToImage> const& source) {
    return source.to().spatial[2] * table_line(source);
  }
  void fill_table(int* table) const {
    int const step = ToImage ? 1 : source.shape.stride[2], width = source.to().spatial[2];
    int const distance = distance_of(source);
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
      int const* const next = w + distance < width ? line + distance * size : line;
      bool alike = next != line && next[0] == line[0];
      for (int k = 0; alike && k < line[0]; ++k)
        alike = next[2 + 2 * k] == line[2 + 2 * k] && next[3 + 2 * k] == line[3 + 2 * k] + step;
      line[1] = alike ? 1 + next[1] : 1;
    }
  }
  void load_weights(int first, A* weights) const {
    int const count = counted(first), members = source.members();
    for (int o = 0; o < block; ++o) {
      // The weights of a result are strides apart, for taps and members alike.
      long const start = o < count ? source.weight(0, 0, first + o) : 0;
      long const tap = source.weight(1, 0, 0) - source.weight(0, 0, 0);
      long const member = source.weight(0, 1, 0) - source.weight(0, 0, 0);
      A* to = weights + o;
      for (int t = 0; t < source.shape.taps(); ++t)
        for (int m = 0; m < members; ++m, to += block)
          *to = o < count ? A(weight[start + t * tap + m * member]) : A(0);
    }
  }
  int counted(int first) const {
    int const left = source.to().channels - first;
    return left < block ? left : block;
  }

  // A row of taps that reads something.
  struct Row {
    A const* packed;   // numbers of its first column, of a block of channels
    S const* tensor;   // the same, from the first channel on
    A const* weights;  // of its first tap
  };
  // Rows of taps, and what their columns are.
  struct Taps {
    Row const* row;
    int rows;
    int const* columns;  // see fill_table
    int pitch;           // numbers from column to column
    int distance;        // of neighbours in the result
    GroupPermutation<A> const& group;
  };

  void run(int n, int first, int blocks, int plane, int begin, A const* weights, int const* table,
           A* numbers, GroupPermutation<A> const& group) const {
    Shape const& from = source.from();
    Shape const& to = source.to();
    int const end = begin + band < to.spatial[1] ? begin + band : to.spatial[1];
    S const* const sample = x + long(n) * from.size();
    ChannelRows<ToImage, S, A> rows{source, numbers, source.rows(begin, end)};
    ChannelReads const reads = source.template reads<S, A>(first);
    bool const packed = reads == ChannelReads::packed;
    if (packed) rows.load(sample, plane, first, counted(first));
    int const pitch = packed ? source.members() * block : from.channels;
    ConvolutionEpilogue<Chain, P> const epilogue{result, {}, to.channels, 0, to.positions()};
    for (int h = begin; h < end; ++h) {
      Row row[ChannelSource<ToImage>::most_rows];
      int count = 0;
      for (int td = 0; td < source.shape.size[0]; ++td) {
        int const d = source.read(0, plane, td);
        for (int th = 0; d >= 0 && th < source.shape.size[1]; ++th) {
          int const at = source.read(1, h, th);
          if (at < 0) continue;
          row[count++] = {
              packed ? rows.at(td, at) : nullptr,
              sample + (long(d) * from.spatial[1] + at) * from.spatial[2] * from.channels,
              weights + long(td * source.shape.size[1] + th) * source.shape.size[2] *
                            source.members() * block};
        }
      }
      long const place = ((long(n) * to.spatial[0] + plane) * to.spatial[1] + h) * to.spatial[2];
      int const distance = distance_of(source);
      for (int phase = 0; phase < distance; ++phase)
        for (int w = phase, next; w < to.spatial[2]; w = next) {
          Taps const taps{row, count, table + w * table_line(source), pitch, distance, group};
          next = w + (taps.columns[1] >= many ? many : 1) * distance;
          for (int c = 0; c < blocks; ++c)
            if (reads == ChannelReads::packed)
              block_of<ChannelReads::packed>(taps, first, c, epilogue, place + w);
            else
              block_of<ChannelReads::permuted>(taps, first, c, epilogue, place + w);
        }
    }
  }

  // Block c behind channel `first`, of a position or of neighbours: all of its vectors at once,
  // which are packed with zeros, or those that there are one by one.
  template <ChannelReads Reads, class Epilogue>
  void block_of(Taps const& taps, int first, int c, Epilogue const& epilogue, long place) const {
    int const count = counted(first + c * block);
    int const neighbours = taps.columns[1] >= many ? many : 1;
    if (Reads == ChannelReads::packed || count == block)
      return neighbours == many
                 ? positions<Reads, many, channel_vectors>(taps, first, c, 0, epilogue, place)
                 : positions<Reads, 1, channel_vectors>(taps, first, c, 0, epilogue, place);
    if constexpr (Reads == ChannelReads::permuted)
      for (int v = 0; v * lanes<A> < count; ++v)
        for (int i = 0; i < neighbours; ++i)
          positions<Reads, 1, 1>(taps, first, c, v, epilogue, place + i * taps.distance, i);
  }

  // Neighbours that have the same taps, `step` columns further each: weights are read once for
  // them. `vector`: the first of Vectors in block c.
  // `moved`: the first of them, counted from where the taps are.
  template <ChannelReads Reads, int Count, int Vectors, class Epilogue>
  void positions(Taps const& taps, int first, int c, int vector, Epilogue const& epilogue,
                 long place, int moved = 0) const {
    int const channel = first + c * block + vector * lanes<A>;
    int const left = source.to().channels - channel;
    int const count = left < Vectors * lanes<A> ? left : Vectors * lanes<A>;
    long const step = long(ToImage ? 1 : source.shape.stride[2]) * taps.pitch;
    alignas(64) A sum[Vectors * lanes<A>];
    V total[Count][Vectors];
    if (result.bias == nullptr) {
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Count; ++i) PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) total[i][v] = I::zero(A());
    } else {
      for (int o = 0; o < Vectors * lanes<A>; ++o)
        sum[o] = o < count ? A(result.bias[channel + o]) : A(0);
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Count; ++i) PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) total[i][v] = I::load(sum + v * lanes<A>);
    }
    long const weights_from = c * block_size(source) + vector * lanes<A>;
    int const size = source.members() * block;  // weights of a tap
    for (int r = 0; r < taps.rows; ++r) {
      Row const& row = taps.row[r];
      for (int k = 0; k < taps.columns[0]; ++k) {
        A const* const w = row.weights + weights_from + long(taps.columns[2 + 2 * k]) * size;
        long const at = long(taps.columns[3 + 2 * k]) * taps.pitch + moved * step;
        if constexpr (Reads == ChannelReads::packed)
          add_packed<Count, Vectors>(row.packed + at + vector * lanes<A>, step, w, total);
        else
          add_permuted<Count, Vectors>(row.tensor + at + channel, step, w, taps.group, total);
      }
    }
    if constexpr (std::is_same_v<S, A>)
      if (epilogue.only_stores() && count == Vectors * lanes<A>) {
        A* const y = result.y + place * source.to().channels + channel;
        long const next = long(taps.distance) * source.to().channels;
        PHYLLO_UNROLL_ON_HOST
        for (int i = 0; i < Count; ++i) PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Vectors; ++v) I::store(y + i * next + v * lanes<A>, total[i][v]);
        return;
      }
    for (int i = 0; i < Count; ++i) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) I::store(sum + v * lanes<A>, total[i][v]);
      epilogue.finish(sum, place + i * taps.distance, channel, count);
    }
  }

  // Products of one tap.
  template <int Count, int Vectors>
  PHYLLO_INLINE_ON_HOST void add_packed(A const* a, long step, A const* w,
                                        V (&total)[Count][Vectors]) const {
    for (int m = 0; m < source.members(); ++m, a += block, w += block) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) {
        V const weights = I::load(w + v * lanes<A>);
        PHYLLO_UNROLL_ON_HOST
        for (int i = 0; i < Count; ++i)
          total[i][v] = I::multiply_add(I::load(a + i * step + v * lanes<A>), weights, total[i][v]);
      }
    }
  }
  template <int Count, int Vectors>
  PHYLLO_INLINE_ON_HOST void add_permuted(S const* a, long step, A const* w,
                                          GroupPermutation<A> const& group,
                                          V (&total)[Count][Vectors]) const {
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < Vectors; ++v) {
      V numbers[Count];
      PHYLLO_UNROLL_ON_HOST
      for (int i = 0; i < Count; ++i) numbers[i] = I::load(a + i * step + v * lanes<A>);
      for (int m = 0; m < source.members(); ++m) {
        V const weights = I::load(w + long(m) * block + v * lanes<A>);
        PHYLLO_UNROLL_ON_HOST
        for (int i = 0; i < Count; ++i)
          total[i][v] =
              I::multiply_add(I::permute(numbers[i], group.index(m)), weights, total[i][v]);
      }
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
