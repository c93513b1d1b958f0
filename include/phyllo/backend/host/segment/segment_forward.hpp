// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_stages.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/pairs/pair_segment.hpp>
#include <phyllo/backend/host/segment/batch_norm_tile.hpp>
#include <phyllo/backend/host/segment/row_norm_tile.hpp>
#include <phyllo/backend/host/segment/row_tile.hpp>
#include <phyllo/backend/host/segment/segment_layout.hpp>
#include <phyllo/backend/host/segment/tile_prefetch.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>

#include <cstring>

namespace phyllo::inline PHYLLO_ISA::host {

/// Forward pass of a segment. One work item: one piece of the batch, tile by tile through all
/// layers.
template <class Segment, class P> struct segment_forward;
template <class... D, class P> struct segment_forward<op::Segment<D...>, P> {
  using A = typename P::accumulate;
  using Segment = op::Segment<D...>;
  using Parts = SegmentParts<Segment>;
  static constexpr int images = Parts::images;
  static constexpr int tile = Parts::template rows<A>;
  using Layout = SegmentLayout<typename Parts::Rows, P, tile>;
  using Images = ImageStages<typename Parts::Images, P, false>;
  template <bool Converts>
  using Weights = SegmentWeights<typename Parts::Rows, P, Converts, images>;
  /// Values of two layers at a time, or all where a sum reads an older one.
  static constexpr int size =
      Layout::has_sums ? Layout::values : 2 * Layout::stored_rows * Layout::widest;
  static constexpr int value_at(int l) {
    return Layout::has_sums ? Layout::value_at(l) : l % 2 * Layout::stored_rows * Layout::widest;
  }

  // What a piece of the batch needs, behind that of its images.
  struct Memory {
    alignas(64) A value[size];
    alignas(64) A normalizations[2 * Layout::normalized + 1];
    alignas(64) A statistics[Layout::statistics > 0 ? 2 * Layout::stored_rows : 1];
    alignas(64) A weights[Weights<Layout::converts>::size + 1];
  };
  static constexpr long image_bytes = (Images::bytes + 63) / 64 * 64;
  static constexpr bool multiplies_pairs =
      std::is_same_v<typename P::storage, bf16> && Parts::is_all_dense;
  /// Of work memory, for each piece.
  static constexpr long thread_bytes = [] {
    long most = image_bytes + long(sizeof(Memory));
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs) {
      long const pairs = PairSegment<PairInstruction, Segment, P>::bytes;
      most = pairs > most ? pairs : most;
    }
#endif
    return most;
  }();

  typename Segment::template Forward<P> work;
  ExternalTensor source;  // (N, first in)
  ExternalTensor target;  // (N, last out)
  int pieces = 1;
  int workers = 1;

  void operator()(int worker) const {
    std::byte* const memory = work.memory.slice(worker);
    each_piece(worker, workers, pieces, [&](int piece) { run_piece(piece, memory); });
  }
  void run_piece(int piece, std::byte* memory) const {
    long const batch = work.batch;
    long const first = batch * piece / pieces, last = batch * (piece + 1) / pieces;
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs)
      if ((work.shards > 0 || last - first >= PairInstruction::fewest_samples) &&
          PairInstruction::permitted())
        return PairSegment<PairInstruction, Segment, P>(work, memory)
            .run(source, target, first, last);
#endif
    Memory& m = *reinterpret_cast<Memory*>(memory + image_bytes);
    if (Layout::converts && last - first >= tile)
      run(Weights<Layout::converts>(work, m.weights), first, last, memory, m);
    else
      run(Weights<false>(work, m.weights), first, last, memory, m);
  }

  // Of a tile: what the first layer reads and the last one writes.
  struct Ends {
    A const* x;
    A* y;
  };

  template <class W>
  void run(W const& weights, long first, long last, [[maybe_unused]] std::byte* memory,
           Memory& m) const {
    // Rows that are computed and no sample's are zero at first.
    A* const value = m.value;
    int const used = padded_rows(int(last - first < tile ? last - first : tile));
    for (int l = 0; l <= (Layout::has_sums ? Layout::layers : 1); ++l)
      std::memset(static_cast<void*>(value + value_at(l)), 0,
                  sizeof(A) * std::size_t(used) *
                      (Layout::has_sums
                           ? l < Layout::layers ? Layout::in_stride[l] : Layout::out_stride[l - 1]
                           : Layout::widest));
    normalize(m.normalizations);
    Ends const in_tile{value + value_at(0), value + value_at(Layout::layers)};
    if constexpr (images > 0) {
      Images stages(reinterpret_cast<A*>(memory), work);
      for (long n = first; n < last; n += tile) {
        int const rows = int(last - n < tile ? last - n : tile);
        stages.forward(source, n, rows, value, Layout::in_stride[0]);
        layers(weights, rows, int(n), m, in_tile, [] {});
        store(value, n, rows);
      }
    } else {
      Ends const whole = in_place();
      for (long n = first; n < last; n += tile) {
        int const rows = int(last - n < tile ? last - n : tile);
        // Rows that no sample has are computed too, but for those of whole tiles.
        bool const is_whole = rows == Layout::stored_rows;
        Ends const ends{
            is_whole && whole.x != nullptr ? whole.x + n * Layout::in_count[0] : in_tile.x,
            is_whole && whole.y != nullptr ? whole.y + n * outputs : in_tile.y};
        if (ends.x == in_tile.x)
          TileTransfer<A>::load(source, n, rows, Layout::in_count[0], value, Layout::in_stride[0]);
        if constexpr (Layout::converts)
          for (int i = 0; i < rows * Layout::in_stride[0]; ++i) value[i] = rounded<P>(value[i]);
        long const left = last - n - rows;
        constexpr int calls = Layout::layers * (tile_rows / 6);
        TilePrefetch<false> read(source, n + rows, left < tile ? left : tile, Layout::in_count[0],
                                 calls);
        TilePrefetch<true> written(target, n, rows, outputs, calls);
        layers(weights, rows, int(n), m, ends, [&] {
          read();
          written();
        });
        if (ends.y == in_tile.y) store(value, n, rows);
      }
    }
  }

 private:
  static constexpr int outputs = Layout::out_count[Layout::layers - 1];
  static constexpr int out_stride = Layout::out_stride[Layout::layers - 1];

  void store(A const* value, long n, int rows) const {
    TileTransfer<A>::store(value + value_at(Layout::layers), out_stride, n, rows, outputs, target);
  }
  // The caller's memory, if its rows have the layout of a tile; nullptr: they are copied. If x and
  // y overlap, x is copied, because a panel of the layer would read what another panel has written.
  Ends in_place() const {
    if constexpr (Layout::converts) return {nullptr, nullptr};
    using Transfer = TileTransfer<A>;
    A* const x = Transfer::in_place(source, Layout::in_count[0], Layout::in_stride[0]);
    A* const y = Transfer::in_place(target, outputs, out_stride);
    long const batch = work.batch;
    bool const shared = Transfer::overlap(x, batch * Layout::in_count[0], y, batch * outputs);
    return {shared ? nullptr : x, y};
  }
  void normalize(A* normalizations) const {
    [&]<int... L>(std::integer_sequence<int, L...>) {
      (normalize_layer<L>(normalizations), ...);
    }(std::make_integer_sequence<int, Layout::layers>{});
  }
  template <int L> void normalize_layer(A* normalizations) const {
    using Op = typename Layout::template Op<L>;
    if constexpr (op::is_normalization<Op>) {
      op::RunningStatistics const& s = work.statistics[images + L];
      auto const parameter = [this](int offset) {
        return offset < 0 ? nullptr : work.parameters + offset;
      };
      RowTile<Op, P>::normalization(work.buffers + s.buffer, parameter(work.weight[images + L]),
                                    parameter(work.bias[images + L]), s.epsilon,
                                    normalizations + 2 * Layout::normalized_at(L));
    } else if constexpr (op::is_row_norm<Op>) {
      RowNormTile<Op, P, Layout::stored_rows>::load(work, images + L,
                                                    normalizations + 2 * Layout::normalized_at(L));
    } else if constexpr (op::is_batch_normalization<Op>) {
      BatchNormTile<Op, P>::load(work, normalizations);
    }
  }

  template <class W, class Between>
  void layers(W const& weights, int rows, int n, Memory& m, Ends const& ends,
              Between const& between_blocks) const {
    [&]<int... L>(std::integer_sequence<int, L...>) {
      (layer<L>(weights, rows, n, m, ends, between_blocks), ...);
    }(std::make_integer_sequence<int, Layout::layers>{});
  }
  template <int Value> static A const* value_of(Memory& m, Ends const& ends) {
    return Value == 0 ? ends.x : m.value + value_at(Value);
  }
  template <int L, class W, class Between>
  void layer(W const& weights, int rows, int n, Memory& m, Ends const& ends,
             Between const& between_blocks) const {
    using Op = typename Layout::template Op<L>;
    Randomness random = work.random;
    random.position += work.position[images + L];
    A const* const x = value_of<L>(m, ends);
    A* const y = L + 1 == Layout::layers ? ends.y : m.value + value_at(L + 1);
    [[maybe_unused]] A const* const normalization = m.normalizations + 2 * Layout::normalized_at(L);
    if constexpr (op::is_dense<Op>)
      DenseTile<Op, P>::forward(rows, x, weights.template weight<L>(), weights.template stride<L>(),
                                weights.template bias<L>(), y, static_cast<A*>(nullptr), random, n,
                                between_blocks);
    else if constexpr (op::is_sum<Op>)
      RowTile<Op, P>::add(rows, x, value_of<Op::earlier>(m, ends), y, nullptr, random, n);
    else if constexpr (op::is_batch_normalization<Op>)
      BatchNormTile<Op, P>::forward(rows, x, normalization, y, nullptr, random, n);
    else if constexpr (op::is_row_norm<Op>)
      RowNormTile<Op, P, Layout::stored_rows>::forward(rows, x, normalization,
                                                       A(work.statistics[images + L].epsilon), y,
                                                       nullptr, m.statistics, random, n);
    else
      RowTile<Op, P>::normalize(rows, x, normalization, normalization + Layout::out_stride[L], y,
                                random, n);
  }
};

template <class... D, class P> struct Kernels<op::Segment<D...>, P> {
  using Functor = segment_forward<op::Segment<D...>, P>;
  /// The caller's Views are read and written tile by tile, without a pass of their own.
  static constexpr KernelTraits traits = {.takes_views = true,
                                          .thread_bytes = Functor::thread_bytes};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Segment<D...>::template Forward<P> const& work,
                  ExternalTensor const& source, ExternalTensor const& target) {
    if (work.batch == 0) return;
    int const pieces = pieces_of(exec, work.batch, Functor::tile, work.shards);
    KOKKOS_ASSERT(work.memory.slices > 0);
    int const workers = workers_of(exec, pieces, work.memory.slices);
    launch(exec, label, workers, Functor{work, source, target, pieces, workers});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
