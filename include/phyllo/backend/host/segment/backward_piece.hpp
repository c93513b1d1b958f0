// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/images/image_stages.hpp>
#include <phyllo/backend/host/kernels.hpp>
#include <phyllo/backend/host/pairs/pair_step.hpp>
#include <phyllo/backend/host/segment/batch_norm_tile.hpp>
#include <phyllo/backend/host/segment/gradient_tensors.hpp>
#include <phyllo/backend/host/segment/piece_prefetch.hpp>
#include <phyllo/backend/host/segment/result_gradient.hpp>
#include <phyllo/backend/host/segment/row_norm_tile.hpp>
#include <phyllo/backend/host/segment/row_tile.hpp>
#include <phyllo/backend/host/segment/segment_layout.hpp>
#include <phyllo/backend/host/segment/tile_transfer.hpp>
#include <phyllo/backend/host/segment/transposed_weights.hpp>

#include <cstring>
#include <new>

namespace phyllo::inline PHYLLO_ISA::host {

/// Forward, backward and parameter gradients of a segment, tile by tile: a tile's values stay in
/// the cache. One work item: one piece of the batch, whose gradients are summed in a row of their
/// own.
///
/// options  Op: WholeStep, whose loss has the gradient of the result, or SegmentBackward, whose
///          caller has it and may want that of the input
template <class Op, class P> struct backward_piece {
  using A = typename P::accumulate;
  using Segment = typename Op::segment;
  using Parts = SegmentParts<Segment>;
  static constexpr int images = Parts::images;
  static constexpr int tile_size = Parts::template rows<A>;
  static constexpr bool has_input_gradient = !op::has_loss<Op>;
  using Images = ImageStages<typename Parts::Images, P, true, has_input_gradient>;
  using Layout =
      SegmentLayout<typename Parts::Rows, P, tile_size, (images > 0 || has_input_gradient)>;
  using Weights = SegmentWeights<typename Parts::Rows, P, Layout::converts, images>;
  using Result = ResultGradient<Op, A>;
  using Gradients = GradientTensors<A>;
  static constexpr int layers = Layout::layers;
  static constexpr int outputs = Layout::out_count[layers - 1];
  static constexpr int out_stride = Layout::out_stride[layers - 1];

  // Whether the gradient of the segment's input is that of the first layer on rows.
  static constexpr bool rows_have_input_gradient = has_input_gradient && images == 0;
  // Nothing reads the result where its gradient is the caller's and its chain needs none; with it a
  // row normalisation computes its statistics.
  static constexpr bool needs_result =
      op::has_loss<Op> || op::is_row_norm<typename Layout::template Op<layers - 1>> ||
      Layout::template Op<layers - 1>::chain::derivative_of != Derivative::nothing;
  static constexpr bool multiplies_pairs =
      std::is_same_v<typename P::storage, bf16> && Parts::is_all_dense;

  // What a tile needs, behind the memory of its images.
  struct Memory {
    alignas(64) A value[Layout::values] = {};
    alignas(64) A saved[Layout::values] = {};  // inputs of the chains that ask for them
    alignas(64) A d[2][Layout::stored_rows * Layout::widest] = {};
    alignas(64) A target[op::has_loss<Op> ? Layout::stored_rows * out_stride : 1] = {};
    alignas(64) A transposed[Layout::transposed + 1] = {};
    // Gradients by way of sums, and what those of the segment's input are added to.
    alignas(64) A more[Layout::has_sums           ? Layout::values
                       : rows_have_input_gradient ? Layout::stored_rows * Layout::in_stride[0]
                                                  : 1] = {};
    alignas(64) A normalizations[2 * Layout::normalized + 1];
    alignas(64) A statistics[Layout::statistics + 1];
    alignas(64) A of_result[Result::numbers_of_channel * out_stride + 1];
    alignas(64) A weights[Weights::size + 1];
    // Of the tile: its input, the gradient of its result, that of its input; here, or where the
    // caller's rows are lines of a tile.
    A const* x = value;
    A const* d_y = d[(layers - 1) % 2];
    A* d_x = d[1];
  };
  static constexpr long image_bytes = (Images::bytes + 63) / 64 * 64;
  /// Of work memory, for each piece.
  static constexpr long thread_bytes = [] {
    long most = image_bytes + long(sizeof(Memory));
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs) {
      long const pairs = PairStep<PairInstruction, Op, P>::bytes;
      most = pairs > most ? pairs : most;
    }
#endif
    return most;
  }();

  typename Op::template Run<P> work;
  ExternalTensor source;  // (N, first in)
  int pieces = 1;
  int workers = 1;

  void operator()(int worker) const {
    std::byte* const bytes = work.forward.memory.slice(worker);
    each_piece(worker, workers, pieces, [&](int piece) { run_piece(piece, bytes); });
  }
  void run_piece(int piece, std::byte* bytes) const {
    long const batch = work.forward.batch;
    long first = batch * piece / pieces, last = batch * (piece + 1) / pieces;
    A* row = work.partial + long(piece) * work.parameter_count;
    if constexpr (op::has_loss<Op>) {
      if (work.begin != nullptr) {
        first = work.begin[piece];
        last = work.begin[piece + 1];
      } else if (pieces == 1) {
        row = work.gradients;
      }
    } else if (pieces == 1) {
      row = work.gradients + work.parameter_first;
    }
    std::memset(static_cast<void*>(row), 0, sizeof(A) * std::size_t(work.parameter_count));
    Gradients gradients{row, work.forward.weight, work.forward.bias};
    if constexpr (!op::has_loss<Op>) gradients.first = work.parameter_first;
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (multiplies_pairs)
      if ((work.forward.shards > 0 || last - first >= PairInstruction::fewest_samples) &&
          PairInstruction::permitted())
        return PairStep<PairInstruction, Op, P>(work, bytes).run(source, first, last, gradients);
#endif
    Memory& memory = *new (bytes + image_bytes) Memory;
    Weights const weights(work.forward, memory.weights);
    constexpr auto each = std::make_index_sequence<layers>{};
    prepare(memory, each);
    Result::load(work, outputs, out_stride, memory.of_result);
    if constexpr (images > 0) {
      Images stages(reinterpret_cast<A*>(bytes), work.forward);
      for (long n = first; n < last; n += tile_size) {
        int const rows = int(last - n < tile_size ? last - n : tile_size);
        stages.forward(source, n, rows, memory.value, Layout::in_stride[0]);
        tile(weights, memory, n, rows, gradients, [] {}, each);
        stages.backward(work, int(n), rows, memory.d[1], Layout::in_stride[0], gradients);
      }
      stages.finish(gradients);
    } else {
      InPlace const whole = in_place();
      for (long n = first; n < last; n += tile_size) {
        int const rows = int(last - n < tile_size ? last - n : tile_size);
        place_tile(memory, whole, n, rows);
        if (memory.x == memory.value)
          TileTransfer<A>::load(source, n, rows, Layout::in_count[0], memory.value,
                                Layout::in_stride[0]);
        if constexpr (Layout::converts)
          for (int i = 0; i < rows * Layout::in_stride[0]; ++i)
            memory.value[i] = rounded<P>(memory.value[i]);
        int const next = int(last - n - rows < tile_size ? last - n - rows : tile_size);
        PiecePrefetch<Op, Layout> prefetch(work, source, n, rows, next, prefetch_calls());
        tile(weights, memory, n, rows, gradients, [&] { prefetch(); }, each);
      }
    }
  }

 private:
  // The caller's memory, where its rows are lines of a tile; nullptr: they are copied.
  struct InPlace {
    A const* x = nullptr;
    A const* d_y = nullptr;
    A* d_x = nullptr;
  };
  InPlace in_place() const {
    InPlace whole;
    if constexpr (!Layout::converts && images == 0) {
      using Transfer = TileTransfer<A>;
      using First = typename Layout::template Op<0>;
      using Last = typename Layout::template Op<layers - 1>;
      constexpr int inputs = Layout::in_count[0], in_stride = Layout::in_stride[0];
      whole.x = Transfer::in_place(source, inputs, in_stride);
      if constexpr (has_input_gradient) {
        // Chains and normalisations change what they are given.
        if (op::is_dense<Last> && Last::chain::length == 0 && Result::numbers_of_channel == 0)
          whole.d_y = Transfer::in_place(rows_of(work.d_y, outputs), outputs, out_stride);
        if ((op::is_dense<First> || op::is_batch_normalization<First>) && work.d_x != nullptr)
          whole.d_x = Transfer::in_place(rows_of(work.d_x, inputs), inputs, in_stride);
        long const batch = work.forward.batch;
        if (Transfer::overlap(whole.d_x, batch * inputs, whole.d_y, batch * outputs))
          whole.d_y = nullptr;
        // The first layer reads all of a tile's input before it writes the gradient there.
        if (whole.d_x != whole.x &&
            Transfer::overlap(whole.d_x, batch * inputs, whole.x, batch * inputs))
          whole.x = nullptr;
      }
    }
    return whole;
  }
  // Rows that no sample has are computed too, but for those of whole tiles.
  static void place_tile(Memory& m, InPlace const& whole, long n, int rows) {
    bool const is_whole = rows == Layout::stored_rows;
    m.x = is_whole && whole.x != nullptr ? whole.x + n * Layout::in_count[0] : m.value;
    m.d_y = is_whole && whole.d_y != nullptr ? whole.d_y + n * outputs : m.d[(layers - 1) % 2];
    m.d_x = is_whole && whole.d_x != nullptr ? whole.d_x + n * Layout::in_count[0] : m.d[1];
  }
  template <int Value> static A const* value_of(Memory const& m) {
    return Value == 0 ? m.x : m.value + Layout::value_at(Value);
  }
  // The gradient of value Value, which layer Value gives.
  template <int Value> static A* gradient_of(Memory& m) {
    return Value == 0 ? m.d_x : m.d[(Value + 1) % 2];
  }

  // What the tiles read of the parameters beside the weights.
  template <std::size_t... I> void prepare(Memory& memory, std::index_sequence<I...>) const {
    (transpose_layer<int(I)>(memory.transposed), ...);
    (load_normalization<int(I)>(memory.normalizations), ...);
  }
  template <int Layer> void load_normalization(A* normalizations) const {
    using D = typename Layout::template Op<Layer>;
    if constexpr (op::is_row_norm<D>)
      RowNormTile<D, P, Layout::stored_rows>::load(
          work.forward, images + Layer, normalizations + 2 * Layout::normalized_at(Layer));
    else if constexpr (op::is_batch_normalization<D>)
      BatchNormTile<D, P>::load(work.forward, normalizations);
  }
  bool gives_input_gradient() const {
    if constexpr (has_input_gradient)
      return work.d_x != nullptr;
    else
      return false;
  }
  bool adds_to_input_gradient() const {
    if constexpr (rows_have_input_gradient)
      return work.d_x != nullptr && work.accumulate_gradient;
    else
      return false;
  }
  template <int Layer> void transpose_layer(A* transposed) const {
    if constexpr (Layer == 0 && rows_have_input_gradient)
      if (!gives_input_gradient()) return;
    if constexpr (Layout::is_dense[Layer] && (Layer > 0 || images > 0 || has_input_gradient)) {
      transpose_weights<Layout::in_count[Layer], Layout::out_count[Layer],
                        Layout::in_stride[Layer]>(
          work.forward.parameters + work.forward.weight[images + Layer],
          transposed + Layout::transposed_at(Layer));
    }
  }

  // Forward and backward through the layers on rows; the gradient of their input in d[1].
  template <class Between, std::size_t... I>
  void tile(Weights const& weights, Memory& m, long n, int rows, Gradients const& gradients,
            Between const& between_blocks, std::index_sequence<I...>) const {
    (forward<int(I)>(weights, m, n, rows, between_blocks), ...);
    result_gradient(m, n, rows);
    if constexpr (rows_have_input_gradient)
      if (adds_to_input_gradient())
        TileTransfer<A>::load(rows_of(work.d_x, Layout::in_count[0]), n, rows, Layout::in_count[0],
                              m.more, Layout::in_stride[0]);
    (backward<layers - 1 - int(I)>(m, n, rows, gradients, between_blocks), ...);
    if constexpr (rows_have_input_gradient)
      if (gives_input_gradient() && m.d_x == m.d[1])
        TileTransfer<A>::store(m.d[1], Layout::in_stride[0], n, rows, Layout::in_count[0],
                               rows_of(work.d_x, Layout::in_count[0]));
  }

  template <int Layer> Randomness randomness() const {
    Randomness random = work.forward.random;
    random.position += work.forward.position[images + Layer];
    return random;
  }

  template <int Layer, class Between>
  void forward(Weights const& weights, Memory& m, long n, int rows,
               Between const& between_blocks) const {
    if constexpr (Layer + 1 == layers && !needs_result) return;
    using D = typename Layout::template Op<Layer>;
    constexpr bool saves = D::chain::derivative_of == Derivative::input;
    A const* const x = value_of<Layer>(m);
    A* const y = m.value + Layout::value_at(Layer + 1);
    A* const kept = saves ? m.saved + Layout::value_at(Layer + 1) : nullptr;
    if constexpr (op::is_dense<D>)
      DenseTile<D, P>::forward(rows, x, weights.template weight<Layer>(),
                               weights.template stride<Layer>(), weights.template bias<Layer>(), y,
                               kept, randomness<Layer>(), int(n), between_blocks);
    else if constexpr (op::is_batch_normalization<D>)
      BatchNormTile<D, P>::forward(rows, x, m.normalizations, y, kept, randomness<Layer>(), int(n));
    else if constexpr (op::is_row_norm<D>)
      RowNormTile<D, P, Layout::stored_rows>::forward(
          rows, x, m.normalizations + 2 * Layout::normalized_at(Layer),
          A(work.forward.statistics[images + Layer].epsilon), y, kept,
          m.statistics + Layout::statistics_at(Layer), randomness<Layer>(), int(n));
    else
      RowTile<D, P>::add(rows, x, value_of<D::earlier>(m), y, kept, randomness<Layer>(), int(n));
  }

  // The gradient of the last layer's sums into d[(layers - 1) % 2].
  void result_gradient(Memory& m, long n, int rows) const {
    using Last = typename Layout::template Op<layers - 1>;
    if (m.d_y != m.d[(layers - 1) % 2]) return;  // read where it is
    constexpr int at = Layout::value_at(layers);
    A* const d = m.d[(layers - 1) % 2];
    Result::run(work, n, rows, outputs, m.value + at, m.target, d, out_stride, m.of_result);
    using Chain = typename Last::chain;
    if constexpr (Layout::converts && op::has_loss<Op>)
      for (int i = 0; i < rows * out_stride; ++i) d[i] = rounded<P>(d[i]);
    if constexpr (Chain::length > 0) {
      A const* const kept = (Chain::derivative_of == Derivative::output ? m.value : m.saved) + at;
      for (int r = 0; r < rows; ++r)
        DenseTile<Last, P>::template differentiate<Chain>(d + r * out_stride, kept + r * out_stride,
                                                          out_stride, randomness<layers - 1>(),
                                                          int(n) + r, 0);
    }
  }

  // What the gradient of value Value is added to: by way of sums behind it, or the caller's; null
  // where there is none.
  template <int Value> A* more(Memory& m) const {
    bool const adds = Layout::is_read_later(Value, 0) || (Value == 0 && adds_to_input_gradient());
    return adds ? m.more + Layout::value_at(Value) : nullptr;
  }

  // Where no Linear layer runs forward, there are no blocks between which it could ask for memory.
  static constexpr bool prefetches_backwards = [] {
    bool forward = needs_result || !Layout::is_dense[layers - 1];
    for (int l = 0; l + 1 < layers; ++l) forward = forward || Layout::is_dense[l];
    return !forward;
  }();
  static constexpr int prefetch_calls() {
    if constexpr (prefetches_backwards)
      return DenseTile<typename Layout::template Op<layers - 1>, P>::gradient_blocks;
    return layers * (tile_rows / 6);
  }

  template <int Layer, class Between>
  void backward(Memory& m, long n, int rows, Gradients const& gradients,
                Between const& between_blocks) const {
    using D = typename Layout::template Op<Layer>;
    A const* const d_y = Layer + 1 == layers ? m.d_y : m.d[Layer % 2];
    A* const d_x = gradient_of<Layer>(m);
    if constexpr (op::is_dense<D>)
      DenseTile<D, P>::backward_parameters(
          rows, value_of<Layer>(m), d_y, gradients.of_weight(images + Layer),
          D::bias ? gradients.of_bias(images + Layer) : nullptr, [&] {
            if constexpr (prefetches_backwards && Layer + 1 == layers) between_blocks();
          });
    else if constexpr (op::is_batch_normalization<D>)
      BatchNormTile<D, P>::add_sums(rows, value_of<Layer>(m), d_y, m.normalizations,
                                    gradients.of_weight(images + Layer),
                                    gradients.of_bias(images + Layer));
    else if constexpr (op::is_row_norm<D>)
      RowNormTile<D, P, Layout::stored_rows>::backward(
          rows, value_of<Layer>(m), d_y, m.normalizations + 2 * Layout::normalized_at(Layer),
          m.statistics + Layout::statistics_at(Layer), d_x,
          D::scale ? gradients.of_weight(images + Layer) : nullptr,
          D::bias ? gradients.of_bias(images + Layer) : nullptr);
    else
      pass_on<Layer, D::earlier>(m, rows, d_y);
    if constexpr (Layer > 0) {
      using Before = typename Layout::template Op<Layer - 1>::chain;
      A const* const kept = (Before::derivative_of == Derivative::output ? m.value : m.saved) +
                            Layout::value_at(Layer);
      backward_input<Layer, Before>(m, rows, d_y, d_x, kept, randomness<Layer - 1>(), int(n));
    } else if constexpr (images > 0 || has_input_gradient) {
      if (images > 0 || gives_input_gradient())
        backward_input<Layer, op::Chain<>>(m, rows, d_y, d_x, d_x, randomness<0>(), int(n));
    }
  }
  template <int Layer, class Before>
  void backward_input(Memory& m, int rows, A const* d_y, A* d_x, A const* kept,
                      Randomness const& random, int first_sample) const {
    using D = typename Layout::template Op<Layer>;
    if constexpr (op::is_dense<D>) {
      DenseTile<D, P>::template backward_input<Before>(
          rows, d_y, m.transposed + Layout::transposed_at(Layer), d_x, more<Layer>(m), kept, random,
          first_sample);
    } else {
      constexpr int stride = Layout::in_stride[Layer];
      A const* const own = op::is_row_norm<D> ? d_x : d_y;
      A const* const by_sums = more<Layer>(m);
      for (int i = 0; i < rows * stride; ++i)
        d_x[i] = by_sums == nullptr ? own[i] : own[i] + by_sums[i];
      for (int r = 0; r < rows; ++r)
        DenseTile<D, P>::template differentiate<Before>(d_x + r * stride, kept + r * stride, stride,
                                                        random, first_sample + r, 0);
    }
  }
  // A sum's gradient is that of both its terms.
  template <int Layer, int Earlier> void pass_on(Memory& m, int rows, A const* d_y) const {
    bool const adds =
        Layout::is_read_later(Earlier, Layer + 1) || (Earlier == 0 && adds_to_input_gradient());
    A* const to = m.more + Layout::value_at(Earlier);
    for (int i = 0; i < rows * Layout::in_stride[Layer]; ++i)
      to[i] = adds ? to[i] + d_y[i] : d_y[i];
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
