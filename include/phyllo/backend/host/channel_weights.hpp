// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/channel_convolution.hpp>

namespace phyllo::inline PHYLLO_ISA::host {

/// Gradients of the weights of narrow groups. One work item: one block of samples and rows of the
/// grid, whose sums are a row of the workspace.
template <class Op, class P> struct channel_weights {
  using A = typename P::accumulate;
  using S = typename P::storage;
  using V = Vector<A>;
  using I = InstructionSet;
  static constexpr int block = channels_of_block<A>;

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
    for (int first = 0; first < to.channels; first += block) {
      int const left = to.channels - first, count = left < block ? left : block;
      std::memset(static_cast<void*>(sums), 0, sizeof(A) * std::size_t(sums_size(source)));
      for (long r = begin; r < end; ++r) add_line(r, first, count, sums, line, numbers);
      for (int t = 0; t < s.taps() * source.members(); ++t)
        for (int o = 0; o < count; ++o)
          partial[long(t) * to.channels + first + o] = sums[long(t) * block + o];
    }
  }

  // Row r of the grid, of all samples.
  void add_line(long r, int first, int count, A* sums, A* line, A* numbers) const {
    ConvolutionShape const& s = work.shape;
    Shape const &to = s.grid, &from = s.image;
    int const h = int(r % to.spatial[1]), plane = int(r / to.spatial[1] % to.spatial[0]);
    S const* const sample = work.image + r / to.spatial[1] / to.spatial[0] * from.size();
    ChannelRows<false, S, A> rows{source, numbers, source.rows(h, h + 1)};
    bool const in_place = source.in_place<S, A>(first);
    if (!in_place) rows.load(sample, plane, first, count);
    for (int w = 0; w < to.spatial[2]; ++w)
      for (int o = 0; o < block; ++o)
        line[long(w) * block + o] =
            o < count ? number<A>(work.grid + (r * to.spatial[2] + w) * to.channels + first, o)
                      : A(0);
    int const pitch = in_place ? from.channels : source.members() * block;
    for (int td = 0; td < s.size[0]; ++td) {
      int const d = source.read(0, plane, td);
      for (int th = 0; d >= 0 && th < s.size[1]; ++th) {
        int const at = source.read(1, h, th);
        if (at < 0) continue;
        A const* row = rows.at(td, at);
        if constexpr (std::is_same_v<S, A>)
          if (in_place)
            row =
                sample + (long(d) * from.spatial[1] + at) * from.spatial[2] * from.channels + first;
        for (int tw = 0; tw < s.size[2]; ++tw)
          for (int m = 0; m < source.members(); ++m)
            add_tap(row + m * block, line, pitch, tw,
                    sums + ((long(td * s.size[1] + th) * s.size[2] + tw) * source.members() + m) *
                               block);
      }
    }
  }

  void add_tap(A const* row, A const* line, int pitch, int tw, A* sums) const {
    V total[channel_vectors];
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < channel_vectors; ++v) total[v] = I::load(sums + v * lanes<A>);
    ConvolutionShape const& s = work.shape;
    int begin = 0, end = s.grid.spatial[2];
    if (s.mode == PaddingMode::zeros) {
      while (begin < end && s.place(2, begin, tw) < 0) ++begin;
      while (end > begin && s.place(2, end - 1, tw) >= s.image.spatial[2]) --end;
    }
    for (int w = begin; w < end; ++w) {
      A const* const a = row + long(s.read(2, s.place(2, w, tw))) * pitch;
      A const* const z = line + long(w) * block;
      PHYLLO_UNROLL_ON_HOST
      for (int v = 0; v < channel_vectors; ++v)
        total[v] = I::multiply_add(I::load(a + v * lanes<A>), I::load(z + v * lanes<A>), total[v]);
    }
    PHYLLO_UNROLL_ON_HOST
    for (int v = 0; v < channel_vectors; ++v) I::store(sums + v * lanes<A>, total[v]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
