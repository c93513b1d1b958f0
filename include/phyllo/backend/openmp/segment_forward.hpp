// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/kernels.hpp>
#include <phyllo/backend/openmp/segment_forward_amx.hpp>
#include <phyllo/backend/openmp/segment_layout.hpp>
#include <phyllo/backend/openmp/tile_prefetch.hpp>
#include <phyllo/backend/openmp/tile_transfer.hpp>

#include <cstring>

namespace phyllo::openmp {

/// Inference of a segment. One work item: one piece of the batch, tile by tile through all layers.
template <class Segment, class P> struct segment_forward;
template <class... D, class P> struct segment_forward<op::Segment<D...>, P> {
  using A = typename P::accumulate;
  using Segment = op::Segment<D...>;
  using Layout = SegmentLayout<Segment, P>;

  typename Segment::template Forward<P> work;
  ExternalTensor source;  // (N, first in)
  ExternalTensor target;  // (N, last out)
  int pieces = 1;

  void operator()(int piece) const {
    long const batch = work.batch;
    long const first = batch * piece / pieces, last = batch * (piece + 1) / pieces;
#if defined(PHYLLO_HAS_AMX)
    if constexpr (std::is_same_v<typename P::storage, bf16>)
      if (last - first >= AmxTiles::fewest_samples && AmxTiles::permitted())
        return AmxSegment<Segment, P>(work).run(source, target, first, last);
#endif
    if (Layout::converts && last - first >= tile_rows)
      run(SegmentWeights<Segment, P, Layout::converts>(work), first, last);
    else
      run(SegmentWeights<Segment, P, false>(work), first, last);
  }

  template <class Weights> void run(Weights const& weights, long first, long last) const {
    // Values of two layers at a time. Rows that are computed and no sample's are zero at first.
    alignas(64) A value[2][tile_rows * Layout::widest];
    int const used = padded_rows(int(last - first < tile_rows ? last - first : tile_rows));
    for (auto& v : value) std::memset(static_cast<void*>(v), 0, sizeof(A) * Layout::widest * used);
    for (long n = first; n < last; n += tile_rows) {
      int const rows = int(last - n < tile_rows ? last - n : tile_rows);
      TileTransfer<A>::load(source, n, rows, Layout::in_count[0], value[0], Layout::in_stride[0]);
      if constexpr (Layout::converts)
        for (int i = 0; i < rows * Layout::in_stride[0]; ++i) value[0][i] = rounded<P>(value[0][i]);
      long const left = last - n - rows;
      constexpr int calls = Layout::layers * (tile_rows / 6);
      TilePrefetch<false> read(source, n + rows, left < tile_rows ? left : tile_rows,
                               Layout::in_count[0], calls);
      TilePrefetch<true> written(target, n, rows, Layout::out_count[Layout::layers - 1], calls);
      auto const between_blocks = [&] {
        read();
        written();
      };
      layers(weights, rows, int(n), value, between_blocks, std::index_sequence_for<D...>{});
      TileTransfer<A>::store(value[Layout::layers % 2], Layout::out_stride[Layout::layers - 1], n,
                             rows, Layout::out_count[Layout::layers - 1], target);
    }
  }

  template <class Weights, class Between, std::size_t... L>
  void layers(Weights const& weights, int rows, int n, A (&value)[2][tile_rows * Layout::widest],
              Between const& between_blocks, std::index_sequence<L...>) const {
    (layer<D, int(L)>(weights, rows, n, value[L % 2], value[(L + 1) % 2], between_blocks), ...);
  }
  template <class Dense, int L, class Weights, class Between>
  void layer(Weights const& weights, int rows, int n, A const* x, A* y,
             Between const& between_blocks) const {
    Randomness random = work.random;
    random.position += work.position[L];
    DenseTile<Dense, P>::forward(rows, x, weights.template weight<L>(),
                                 weights.template stride<L>(), weights.template bias<L>(), y,
                                 static_cast<A*>(nullptr), random, n, between_blocks);
  }
};

template <class... D, class P> struct Kernels<op::Segment<D...>, P> {
  /// The caller's Views are read and written tile by tile, without a pass of their own.
  static constexpr bool takes_views = true;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Segment<D...>::template Forward<P> const& work,
                  ExternalTensor const& source, ExternalTensor const& target) {
    if (work.batch == 0) return;
    int const pieces = pieces_of(exec, work.batch);
    launch(exec, label, pieces,
           segment_forward<op::Segment<D...>, P>{work, source, target, pieces});
  }
};

}  // namespace phyllo::openmp
