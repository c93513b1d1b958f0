// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_stages.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/pairs/pair_step.hpp>
#include <phyllo/backend/host/segment/row_tile.hpp>
#include <phyllo/backend/host/segment/segment_layout.hpp>
#include <phyllo/backend/host/segment/tile_loss.hpp>
#include <phyllo/backend/host/segment/tile_prefetch.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>

#include <cstring>
#include <new>

namespace phyllo::inline PHYLLO_ISA::host {

/// Forward, loss, backward and parameter gradients, tile by tile: a tile's values stay in the
/// cache. One work item: one piece of the batch, whose gradients are summed in a row of their own.
template <class Segment, class L, class P> struct whole_step_piece;
template <class... D, class L, class P> struct whole_step_piece<op::Segment<D...>, L, P> {
  using A = typename P::accumulate;
  using Segment = op::Segment<D...>;
  using Parts = SegmentParts<Segment>;
  static constexpr int images = Parts::images;
  static constexpr int tile_size = Parts::template rows<A>;
  using Images = ImageStages<typename Parts::Images, P, true>;
  using Layout = SegmentLayout<typename Parts::Rows, P, tile_size, (images > 0)>;
  using Weights = SegmentWeights<typename Parts::Rows, P, Layout::converts, images>;
  using Step = op::WholeStep<Segment, L>;
  static constexpr int layers = Layout::layers;
  static constexpr int outputs = Layout::out_count[layers - 1];
  static constexpr int out_stride = Layout::out_stride[layers - 1];

  static constexpr bool multiplies_pairs =
      std::is_same_v<typename P::storage, bf16> && Parts::is_all_dense;

  // What a tile needs, behind the memory of its images.
  struct Memory {
    alignas(64) A value[Layout::values] = {};
    alignas(64) A saved[Layout::values] = {};  // inputs of the chains that ask for them
    alignas(64) A d[2][Layout::stored_rows * Layout::widest] = {};
    alignas(64) A target[Layout::stored_rows * out_stride] = {};
    alignas(64) A transposed[Layout::transposed + 1] = {};
    alignas(64) A more[Layout::has_sums ? Layout::values : 1] = {};  // gradients by way of sums
    alignas(64) A weights[Weights::size + 1];
  };
  static constexpr long image_bytes = (Images::bytes + 63) / 64 * 64;
  /// Of work memory, for each piece.
  static constexpr long thread_bytes = [] {
    long most = image_bytes + long(sizeof(Memory));
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs) {
      long const pairs = PairStep<PairInstruction, Segment, L, P>::bytes;
      most = pairs > most ? pairs : most;
    }
#endif
    return most;
  }();

  typename Step::template Run<P> work;
  ExternalTensor source;  // (N, first in)
  int pieces = 1;
  int workers = 1;

  void operator()(int worker) const {
    std::byte* const bytes = work.forward.memory.slice(worker);
    each_piece(worker, workers, pieces, [&](int piece) { run_piece(piece, bytes); });
  }
  void run_piece(int piece, std::byte* bytes) const {
    long const batch = work.forward.batch;
    bool const given = work.begin != nullptr;
    long const first = given ? work.begin[piece] : batch * piece / pieces,
               last = given ? work.begin[piece + 1] : batch * (piece + 1) / pieces;
    A* const gradients =
        pieces == 1 && !given ? work.gradients : work.partial + long(piece) * work.parameter_count;
    std::memset(static_cast<void*>(gradients), 0, sizeof(A) * std::size_t(work.parameter_count));
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs)
      if ((work.forward.shards > 0 || last - first >= PairInstruction::fewest_samples) &&
          PairInstruction::permitted())
        return PairStep<PairInstruction, Segment, L, P>(work, bytes)
            .run(source, first, last, gradients);
#endif
    Memory& memory = *new (bytes + image_bytes) Memory;
    Weights const weights(work.forward, memory.weights);
    constexpr auto each = std::make_index_sequence<layers>{};
    transpose(memory, each);
    if constexpr (images > 0) {
      Images stages(reinterpret_cast<A*>(bytes), work.forward);
      for (long n = first; n < last; n += tile_size) {
        int const rows = int(last - n < tile_size ? last - n : tile_size);
        stages.forward(source, n, rows, memory.value, Layout::in_stride[0]);
        tile(weights, memory, n, rows, gradients, [] {}, each);
        stages.backward(int(n), rows, memory.d[1], Layout::in_stride[0], gradients,
                        work.forward.weight, work.forward.bias);
      }
      stages.finish(gradients, work.forward.weight, work.forward.bias);
    } else {
      for (long n = first; n < last; n += tile_size) {
        int const rows = int(last - n < tile_size ? last - n : tile_size);
        TileTransfer<A>::load(source, n, rows, Layout::in_count[0], memory.value,
                              Layout::in_stride[0]);
        if constexpr (Layout::converts)
          for (int i = 0; i < rows * Layout::in_stride[0]; ++i)
            memory.value[i] = rounded<P>(memory.value[i]);
        int const next = int(last - n - rows < tile_size ? last - n - rows : tile_size);
        constexpr int calls = layers * (tile_rows / 6);
        TilePrefetch<false> read(source, n + rows, next, Layout::in_count[0], calls);
        TilePrefetch<false> wanted(work.targets, n + rows, next, L::classes ? 1 : outputs, calls);
        tile(
            weights, memory, n, rows, gradients,
            [&] {
              read();
              wanted();
            },
            each);
      }
    }
  }

 private:
  template <std::size_t... I> void transpose(Memory& memory, std::index_sequence<I...>) const {
    (transpose_layer<int(I)>(memory.transposed), ...);
  }
  template <int Layer> void transpose_layer(A* transposed) const {
    if constexpr (Layout::is_dense[Layer] && (Layer > 0 || images > 0)) {
      constexpr int in = Layout::in_count[Layer], out = Layout::out_count[Layer];
      constexpr int stride = Layout::in_stride[Layer], n = lanes<A>;
      auto const* const weight = work.forward.parameters + work.forward.weight[images + Layer];
      A* const to = transposed + Layout::transposed_at(Layer);
      constexpr int squares = Layout::converts ? 0 : out / n * n;
      for (int i = 0; i < in; i += n) {
        if constexpr (squares > 0)
          if (i + n <= in)
            for (int o = 0; o < squares; o += n)
              VectorSquare<A>::transpose(weight + i * out + o, out, to + o * stride + i, stride);
        int const last = i + n < in ? i + n : in;
        for (int row = i; row < last; ++row)
          for (int o = i + n <= in ? squares : 0; o < out; ++o)
            to[o * stride + row] = A(weight[row * out + o]);
      }
    }
  }

  // Forward, loss and backward through the Linear layers; the gradient of their input in d[1].
  template <class Between, std::size_t... I>
  void tile(Weights const& weights, Memory& m, long n, int rows, A* gradients,
            Between const& between_blocks, std::index_sequence<I...>) const {
    (forward<int(I)>(weights, m, n, rows, between_blocks), ...);
    losses(m, n, rows);
    (backward<layers - 1 - int(I)>(m, n, rows, gradients), ...);
  }

  template <int Layer> Randomness randomness() const {
    Randomness random = work.forward.random;
    random.position += work.forward.position[images + Layer];
    return random;
  }

  template <int Layer, class Between>
  void forward(Weights const& weights, Memory& m, long n, int rows,
               Between const& between_blocks) const {
    using Op = typename Layout::template Op<Layer>;
    constexpr bool saves = Op::chain::derivative_of == Derivative::input;
    A const* const x = m.value + Layout::value_at(Layer);
    A* const y = m.value + Layout::value_at(Layer + 1);
    A* const kept = saves ? m.saved + Layout::value_at(Layer + 1) : nullptr;
    if constexpr (op::is_dense<Op>)
      DenseTile<Op, P>::forward(rows, x, weights.template weight<Layer>(),
                                weights.template stride<Layer>(), weights.template bias<Layer>(), y,
                                kept, randomness<Layer>(), int(n), between_blocks);
    else
      RowTile<Op, P>::add(rows, x, m.value + Layout::value_at(Op::earlier), y, kept,
                          randomness<Layer>(), int(n));
  }

  // Values of the loss, and the gradient of the last layer's sums into d[(layers - 1) % 2].
  void losses(Memory& m, long n, int rows) const {
    using Last = typename Layout::template Op<layers - 1>;
    constexpr int at = Layout::value_at(layers);
    A* const d = m.d[(layers - 1) % 2];
    TileLoss<L, A>::run(work, n, rows, outputs, m.value + at, m.target, d, out_stride);
    using Chain = typename Last::chain;
    if constexpr (Layout::converts)
      for (int i = 0; i < rows * out_stride; ++i) d[i] = rounded<P>(d[i]);
    if constexpr (Chain::length > 0) {
      A const* const kept = (Chain::derivative_of == Derivative::output ? m.value : m.saved) + at;
      for (int r = 0; r < rows; ++r)
        DenseTile<Last, P>::template differentiate<Chain>(d + r * out_stride, kept + r * out_stride,
                                                          out_stride, randomness<layers - 1>(),
                                                          int(n) + r, 0);
    }
  }

  // The gradient of value Value by way of sums behind it; null where there is none.
  template <int Value> static A* more(Memory& m) {
    return Layout::is_read_later(Value, 0) ? m.more + Layout::value_at(Value) : nullptr;
  }

  template <int Layer> void backward(Memory& m, long n, int rows, A* gradients) const {
    using Op = typename Layout::template Op<Layer>;
    A const* const d_y = m.d[Layer % 2];
    A* const d_x = m.d[(Layer + 1) % 2];
    if constexpr (op::is_dense<Op>)
      DenseTile<Op, P>::backward_parameters(
          rows, m.value + Layout::value_at(Layer), d_y,
          gradients + work.forward.weight[images + Layer],
          Op::bias ? gradients + work.forward.bias[images + Layer] : nullptr);
    else
      pass_on<Layer, Op::earlier>(m, rows, d_y);
    if constexpr (Layer > 0) {
      using Before = typename Layout::template Op<Layer - 1>::chain;
      A const* const kept = (Before::derivative_of == Derivative::output ? m.value : m.saved) +
                            Layout::value_at(Layer);
      backward_input<Layer, Before>(m, rows, d_y, d_x, kept, randomness<Layer - 1>(), int(n));
    } else if constexpr (images > 0) {
      backward_input<Layer, op::Chain<>>(m, rows, d_y, d_x, d_x, randomness<0>(), int(n));
    }
  }
  template <int Layer, class Before>
  static void backward_input(Memory& m, int rows, A const* d_y, A* d_x, A const* kept,
                             Randomness const& random, int first_sample) {
    using Op = typename Layout::template Op<Layer>;
    if constexpr (op::is_dense<Op>) {
      DenseTile<Op, P>::template backward_input<Before>(
          rows, d_y, m.transposed + Layout::transposed_at(Layer), d_x, more<Layer>(m), kept, random,
          first_sample);
    } else {
      constexpr int stride = Layout::in_stride[Layer];
      A const* const by_sums = more<Layer>(m);
      for (int i = 0; i < rows * stride; ++i)
        d_x[i] = by_sums == nullptr ? d_y[i] : d_y[i] + by_sums[i];
      for (int r = 0; r < rows; ++r)
        DenseTile<Op, P>::template differentiate<Before>(d_x + r * stride, kept + r * stride,
                                                         stride, random, first_sample + r, 0);
    }
  }
  // A sum's gradient is that of both its terms.
  template <int Layer, int Earlier> static void pass_on(Memory& m, int rows, A const* d_y) {
    constexpr bool adds = Layout::is_read_later(Earlier, Layer + 1);
    A* const to = m.more + Layout::value_at(Earlier);
    for (int i = 0; i < rows * Layout::in_stride[Layer]; ++i)
      to[i] = adds ? to[i] + d_y[i] : d_y[i];
  }
};

/// One work item of as many as pieces: one run of parameters, the rows of the pieces added as a
/// binary tree.
template <class A> struct sum_pieces {
  A* partial = nullptr;    // (pieces, count)
  A* gradients = nullptr;  // (count)
  int count = 0;
  int pieces = 1;

  void operator()(int item) const {
    int const first = int(long(count) * item / pieces),
              last = int(long(count) * (item + 1) / pieces);
    for (int width = 1; width < pieces; width *= 2)
      for (int p = 0; p + width < pieces; p += 2 * width) {
        A* const to = partial + long(p) * count;
        A const* const from = partial + long(p + width) * count;
        for (int i = first; i < last; ++i) to[i] += from[i];
      }
    std::memcpy(gradients + first, partial + first, sizeof(A) * std::size_t(last - first));
  }
};

template <class... D, class L, class P> struct Kernels<op::WholeStep<op::Segment<D...>, L>, P> {
  using Op = op::WholeStep<op::Segment<D...>, L>;
  static constexpr bool takes_views = true;
  static constexpr bool takes_pieces = true;
  using Functor = whole_step_piece<op::Segment<D...>, L, P>;
  /// Of work memory, for each thread.
  static constexpr long thread_bytes = Functor::thread_bytes;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    using A = typename P::accumulate;
    int const slices = work.forward.memory.slices;
    if (work.begin != nullptr) {
      int const workers = workers_of(exec, work.pieces, slices);
      return launch(exec, label, workers, Functor{work, source, work.pieces, workers});
    }
    int pieces = pieces_of(exec, work.forward.batch, Functor::tile_size, work.forward.shards);
    if (pieces > work.rows) pieces = work.rows;
    if (pieces == 0) pieces = 1;  // an empty batch has gradients of zero
    int const workers = workers_of(exec, pieces, slices);
    launch(exec, label, workers, Functor{work, source, pieces, workers});
    if (pieces > 1)
      launch(exec, label, pieces,
             sum_pieces<A>{work.partial, work.gradients, work.parameter_count, pieces});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
