// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_source.hpp>
#include <phyllo/backend/host/gemm/product_memory.hpp>
#include <phyllo/backend/host/kernels.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of narrow groups that row_weights does not compute. One work item: one
/// block of samples and rows of the grid, whose sums are a row of the workspace.
template <class Op, class P> struct channel_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using V = Vector<A>;
  using I = InstructionSet;
  static constexpr int block = channels_of_block<A>;
  static constexpr int some_members = 4;  // whose sums are in registers together
  static constexpr int some_taps = InstructionSet::registers >= 32 ? 3 : 2;  // likewise

  typename Op::template BackwardParameters<P> work;
  ChannelSource<false> source;
  int workers = 1;

  /// Whether what a row of the grid reads fits a slice.
  static bool fits(ChannelSource<false> const& source) {
    ChannelRows<false, S, A> const rows{source};
    for (int h = 0; h < source.to().spatial[1]; ++h)
      if ((rows.size(source.rows(h, h + 1).count()) + line_size(source) + sums_size(source)) *
              long(sizeof(A)) >
          long(product_bytes))
        return false;
    return true;
  }

  void operator()(int worker) const {
    A* const memory = reinterpret_cast<A*>(work.memory.slice(worker));
    each_piece(worker, workers, Op::weight_blocks, [&](int b) { run(b, memory); });
  }

 private:
  static long sums_size(ChannelSource<false> const& source) {
    return long(source.shape.taps()) * source.members() * block;
  }
  static long line_size(ChannelSource<false> const& source) {
    return long(source.to().spatial[2]) * block;
  }

  void run(int b, A* memory) const {
    ConvolutionShape const& s = work.shape;
    Shape const& to = s.grid;
    long const lines = long(work.batch) * to.spatial[0] * to.spatial[1];
    long const begin = lines * b / Op::weight_blocks, end = lines * (b + 1) / Op::weight_blocks;
    A *const sums = memory, *const line = sums + sums_size(source);
    A* const numbers = line + line_size(source);
    A* const partial = work.partial + b * s.weights();
    GroupPermutation<A> const group(source.members());
    for (int first = 0; first < to.channels; first += block) {
      int const left = to.channels - first, count = left < block ? left : block;
      std::memset(static_cast<void*>(sums), 0, sizeof(A) * std::size_t(sums_size(source)));
      ChannelReads const reads = source.template reads<S, A>(first);
      for (long r = begin; r < end; ++r)
        if (reads == ChannelReads::packed)
          add_packed(r, first, count, sums, line, numbers);
        else
          add_line(r, first, count, sums, group);
      for (int t = 0; t < s.taps() * source.members(); ++t)
        for (int o = 0; o < count; ++o)
          partial[long(t) * to.channels + first + o] = sums[long(t) * block + o];
    }
  }

  // Row r of the grid, of all samples.
  struct Line {
    int plane, row;
    S const* sample;  // of the image
    S const* grid;    // its first position
  };
  Line line_of(long r) const {
    Shape const& to = work.shape.grid;
    return {int(r / to.spatial[1] % to.spatial[0]), int(r % to.spatial[1]),
            work.image + r / to.spatial[1] / to.spatial[0] * work.shape.image.size(),
            work.grid + r * to.spatial[2] * to.channels};
  }

  // visit(first tap, plane of taps, plane and row of the image) for each row of taps that reads
  // something of a line.
  template <class Visit> void for_each_row(Line const& line, Visit const& visit) const {
    ConvolutionShape const& s = work.shape;
    for (int td = 0; td < s.size[0]; ++td) {
      int const d = source.read(0, line.plane, td);
      for (int th = 0; d >= 0 && th < s.size[1]; ++th) {
        int const at = source.read(1, line.row, th);
        if (at >= 0) visit((td * s.size[1] + th) * s.size[2], td, d, at);
      }
    }
  }
  // The windows of a line whose tap tw stands inside.
  struct Windows {
    int begin, end;
  };
  Windows windows_of(int tw) const {
    ConvolutionShape const& s = work.shape;
    Windows w{0, s.grid.spatial[2]};
    if (s.mode != PaddingMode::zeros) return w;
    while (w.begin < w.end && s.place(2, w.begin, tw) < 0) ++w.begin;
    while (w.end > w.begin && s.place(2, w.end - 1, tw) >= s.image.spatial[2]) --w.end;
    return w;
  }
  // Column of the image that tap tw of window w reads.
  int column_of(int w, int tw) const {
    ConvolutionShape const& s = work.shape;
    int const at = s.place(2, w, tw);
    return s.mode == PaddingMode::zeros ? at : s.read(2, at);
  }

  // From packed numbers of both.
  void add_packed(long r, int first, int count, A* sums, A* numbers_of_grid, A* numbers) const {
    Shape const& to = work.shape.grid;
    Line const line = line_of(r);
    ChannelRows<false, S, A> rows{source, numbers, source.rows(line.row, line.row + 1)};
    rows.load(line.sample, line.plane, first, count);
    for (int w = 0; w < to.spatial[2]; ++w) {
      S const* const from = line.grid + long(w) * to.channels + first;
      A* const numbers_at = numbers_of_grid + long(w) * block;
      PHYLLO_SIMD(16)
      for (int o = 0; o < count; ++o) numbers_at[o] = number<A>(from, o);
      for (int o = count; o < block; ++o) numbers_at[o] = A(0);
    }
    int const pitch = source.members() * block;
    for_each_row(line, [&](int tap, int td, int, int at) {
      for (int m = 0; m < source.members(); ++m)
        add_taps<channel_vectors>(rows.at(td, at) + m * block, pitch, numbers_of_grid, block,
                                  sums + (long(tap) * source.members() + m) * block);
    });
  }

  // From the tensors.
  void add_line(long r, int first, int count, A* sums, GroupPermutation<A> const& group) const {
    Shape const& from = work.shape.image;
    Line const line = line_of(r);
    for_each_row(line, [&](int tap, int, int plane, int at) {
      S const* const row =
          line.sample + (long(plane) * from.spatial[1] + at) * from.spatial[2] * from.channels;
      A* const sums_of = sums + long(tap) * source.members() * block;
      for (int tw = 0; tw < work.shape.size[2]; ++tw)
        add_groups(row, line.grid, first, count, tw, sums_of + long(tw) * source.members() * block,
                   group);
    });
  }

  // A row of taps, some at a time: what they read of the grid is read once.
  template <int Vectors, class Number>
  void add_taps(Number const* image, long image_pitch, Number const* grid, long grid_pitch,
                A* sums) const {
    int const taps = work.shape.size[2];
    long const tap = long(source.members()) * block;
    int tw = 0;
    for (; tw + some_taps <= taps; tw += some_taps)
      add_some<some_taps, Vectors>(image, image_pitch, grid, grid_pitch, tw, sums + tw * tap);
    for (; tw < taps; ++tw)
      add_some<1, Vectors>(image, image_pitch, grid, grid_pitch, tw, sums + tw * tap);
  }
  template <int Taps, int Vectors, class Number>
  void add_some(Number const* image, long image_pitch, Number const* grid, long grid_pitch, int tw,
                A* sums) const {
    long const tap = long(source.members()) * block;
    V total[Taps][Vectors];
    Windows windows[Taps], all{0, work.shape.grid.spatial[2]};
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t) {
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) total[t][v] = I::load(sums + t * tap + v * lanes<A>);
      windows[t] = windows_of(tw + t);
      all.begin = windows[t].begin > all.begin ? windows[t].begin : all.begin;
      all.end = windows[t].end < all.end ? windows[t].end : all.end;
    }
    all.end = all.end < all.begin ? all.begin : all.end;
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t)
      add_windows<Vectors>(
          image, image_pitch, grid, grid_pitch, tw + t,
          {windows[t].begin, all.begin < windows[t].end ? all.begin : windows[t].end}, total[t]);
    for (int w = all.begin; w < all.end; ++w) {
      V z[Vectors];
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) z[v] = I::load(grid + w * grid_pitch + v * lanes<A>);
      PHYLLO_UNROLL_ON_HOST
      for (int t = 0; t < Taps; ++t) {
        Number const* const a = image + column_of(w, tw + t) * image_pitch;
        PHYLLO_UNROLL_ON_HOST
        for (int v = 0; v < Vectors; ++v)
          total[t][v] = I::multiply_add(I::load(a + v * lanes<A>), z[v], total[t][v]);
      }
    }
    PHYLLO_UNROLL_ON_HOST
    for (int t = 0; t < Taps; ++t) {
      add_windows<Vectors>(
          image, image_pitch, grid, grid_pitch, tw + t,
          {all.end > windows[t].begin ? all.end : windows[t].begin, windows[t].end}, total[t]);
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v) I::store(sums + t * tap + v * lanes<A>, total[t][v]);
    }
  }
  template <int Vectors, class Number>
  PHYLLO_INLINE_ON_HOST void add_windows(Number const* image, long image_pitch, Number const* grid,
                                         long grid_pitch, int tw, Windows windows,
                                         V (&total)[Vectors]) const {
    for (int w = windows.begin; w < windows.end; ++w) {
      Number const* const a = image + column_of(w, tw) * image_pitch;
      Number const* const z = grid + w * grid_pitch;
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < Vectors; ++v)
        total[v] = I::multiply_add(I::load(a + v * lanes<A>), I::load(z + v * lanes<A>), total[v]);
    }
  }

  // One tap of all groups of a block, some members at a time; there are no more than lanes.
  void add_groups(S const* image, S const* grid, int first, int count, int tw, A* sums,
                  GroupPermutation<A> const& group) const {
    int const members = source.members();
    for (int o = 0; o < count; o += lanes<A>) {
      int m = 0;
      if constexpr (2 * some_members <= lanes<A>)
        for (; m + 2 * some_members <= members; m += 2 * some_members)
          add_members<2 * some_members>(image, grid, first + o, m, tw, sums + o, group);
      if constexpr (some_members <= lanes<A>)
        for (; m + some_members <= members; m += some_members)
          add_members<some_members>(image, grid, first + o, m, tw, sums + o, group);
      for (; m < members; ++m) add_members<1>(image, grid, first + o, m, tw, sums + o, group);
    }
  }
  // Members [first, first + Members) of each group, for the vector of channels from `channel` on.
  template <int Members>
  void add_members(S const* image, S const* grid, int channel, int first, int tw, A* sums,
                   GroupPermutation<A> const& group) const {
    Shape const &to = work.shape.grid, &from = work.shape.image;
    V total[Members];
    PHYLLO_UNROLL_ON_HOST
    for (int m = 0; m < Members; ++m) total[m] = I::load(sums + long(first + m) * block);
    Windows const windows = windows_of(tw);
    for (int w = windows.begin; w < windows.end; ++w) {
      V const numbers = I::load(image + channel + long(column_of(w, tw)) * from.channels);
      V const z = I::load(grid + long(w) * to.channels + channel);
      PHYLLO_UNROLL_ON_HOST
      for (int m = 0; m < Members; ++m)
        total[m] = I::multiply_add(I::permute(numbers, group.index(first + m)), z, total[m]);
    }
    PHYLLO_UNROLL_ON_HOST
    for (int m = 0; m < Members; ++m) I::store(sums + long(first + m) * block, total[m]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
