// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/kernels.hpp>
#include <phyllo/backend/openmp/segment_layout.hpp>
#include <phyllo/backend/openmp/tile_prefetch.hpp>
#include <phyllo/backend/openmp/tile_transfer.hpp>
#include <phyllo/op/row.hpp>

#include <cstring>

namespace phyllo::openmp {

/// The targets of a tile: channel c, or the class number.
template <class L, class A> struct TileTarget {
  A const* row = nullptr;  // (C)
  long long number = 0;
  auto operator()([[maybe_unused]] int c) const {
    if constexpr (L::classes)
      return number;
    else
      return row[c];
  }
};

/// Forward, loss, backward and parameter gradients, tile by tile: a tile's values stay in the
/// cache. One work item: one piece of the batch, whose gradients are summed in a row of their own.
template <class Segment, class L, class P> struct whole_step_piece;
template <class... D, class L, class P> struct whole_step_piece<op::Segment<D...>, L, P> {
  using A = typename P::accumulate;
  using Segment = op::Segment<D...>;
  using Layout = SegmentLayout<Segment, P>;
  using Weights = SegmentWeights<Segment, P, Layout::converts>;
  using Op = op::WholeStep<Segment, L>;
  static constexpr int layers = Layout::layers;
  static constexpr int outputs = Layout::out_count[layers - 1];
  static constexpr int out_stride = Layout::out_stride[layers - 1];

  typename Op::template Run<P> work;
  ExternalTensor source;  // (N, first in)
  int pieces = 1;

  // What a tile needs; on the stack of the thread that works on it.
  struct Memory {
    alignas(64) A value[Layout::values] = {};
    alignas(64) A saved[Layout::values] = {};  // inputs of the chains that ask for them
    alignas(64) A d[2][tile_rows * Layout::widest] = {};
    alignas(64) A target[tile_rows * out_stride] = {};
    alignas(64) A transposed[Layout::transposed + 1] = {};
  };

  void operator()(int piece) const {
    long const batch = work.forward.batch;
    long const first = batch * piece / pieces, last = batch * (piece + 1) / pieces;
    A* const gradients =
        pieces == 1 ? work.gradients : work.partial + long(piece) * work.parameter_count;
    std::memset(static_cast<void*>(gradients), 0, sizeof(A) * std::size_t(work.parameter_count));
    Weights const weights(work.forward);
    Memory memory;
    transpose(memory, std::make_index_sequence<layers>{});
    for (long n = first; n < last; n += tile_rows)
      tile(weights, memory, n, int(last - n < tile_rows ? last - n : tile_rows), gradients,
           std::make_index_sequence<layers>{});
  }

 private:
  template <std::size_t... I> void transpose(Memory& memory, std::index_sequence<I...>) const {
    (transpose_layer<int(I)>(memory.transposed), ...);
  }
  template <int Layer> void transpose_layer(A* transposed) const {
    if constexpr (Layer > 0) {
      constexpr int in = Layout::in_count[Layer], out = Layout::out_count[Layer];
      auto const* const weight = work.forward.parameters + work.forward.weight[Layer];
      A* const to = transposed + Layout::transposed_at(Layer);
      for (int i = 0; i < in; ++i)
        for (int o = 0; o < out; ++o) to[o * Layout::in_stride[Layer] + i] = A(weight[i * out + o]);
    }
  }

  template <std::size_t... I>
  void tile(Weights const& weights, Memory& m, long n, int rows, A* gradients,
            std::index_sequence<I...>) const {
    TileTransfer<A>::load(source, n, rows, Layout::in_count[0], m.value, Layout::in_stride[0]);
    if constexpr (Layout::converts)
      for (int i = 0; i < rows * Layout::in_stride[0]; ++i) m.value[i] = rounded<P>(m.value[i]);
    long const left = work.forward.batch - n - rows;
    constexpr int calls = layers * (tile_rows / 6);
    TilePrefetch<false> read(source, n + rows, left < tile_rows ? left : tile_rows,
                             Layout::in_count[0], calls);
    TilePrefetch<false> wanted(work.targets, n + rows, left < tile_rows ? left : tile_rows,
                               L::classes ? 1 : outputs, calls);
    auto const between_blocks = [&] {
      read();
      wanted();
    };
    (forward<int(I)>(weights, m, n, rows, between_blocks), ...);
    losses(m, n, rows);
    (backward<layers - 1 - int(I)>(m, n, rows, gradients), ...);
  }

  template <int Layer> Randomness randomness() const {
    Randomness random = work.forward.random;
    random.position += work.forward.position[Layer];
    return random;
  }

  template <int Layer, class Between>
  void forward(Weights const& weights, Memory& m, long n, int rows,
               Between const& between_blocks) const {
    using Dense = typename Layout::template Dense<Layer>;
    constexpr bool saves = Dense::chain::derivative_of == Derivative::input;
    DenseTile<Dense, P>::forward(rows, m.value + Layout::value_at(Layer),
                                 weights.template weight<Layer>(), weights.template stride<Layer>(),
                                 weights.template bias<Layer>(),
                                 m.value + Layout::value_at(Layer + 1),
                                 saves ? m.saved + Layout::value_at(Layer + 1) : nullptr,
                                 randomness<Layer>(), int(n), between_blocks);
  }

  // Values of the loss, and the gradient of the last layer's sums into d[(layers - 1) % 2].
  void losses(Memory& m, long n, int rows) const {
    using Dense = typename Layout::template Dense<layers - 1>;
    constexpr int at = Layout::value_at(layers);
    A const scale = work.state != nullptr ? A(work.state->loss_scale) : A(1);
    if constexpr (!L::classes)
      TileTransfer<A>::load(work.targets, n, rows, outputs, m.target, out_stride);
    A* const d = m.d[(layers - 1) % 2];
    for (int r = 0; r < rows; ++r) {
      op::OutputRow<A, A> const z{m.value + at + r * out_stride};
      TileTarget<L, A> target{m.target + r * out_stride};
      if constexpr (L::classes)
        target.number = work.targets.template read<long long>(n + r, 0, 0, 0, 0);
      op::GradientRow<A, A> const gradient{d + r * out_stride, A(work.weight) * scale, false};
      work.values[n + r] = A(work.weight) * L::template row<A>(outputs, z, target, gradient);
      if (work.hits != nullptr) work.hits[n + r] = op::hit<L, A>(outputs, z, target);
    }
    using Chain = typename Dense::chain;
    if constexpr (Layout::converts)
      for (int i = 0; i < rows * out_stride; ++i) d[i] = rounded<P>(d[i]);
    if constexpr (Chain::length > 0) {
      A const* const kept = (Chain::derivative_of == Derivative::output ? m.value : m.saved) + at;
      for (int r = 0; r < rows; ++r)
        DenseTile<Dense, P>::template differentiate<Chain>(d + r * out_stride,
                                                           kept + r * out_stride, out_stride,
                                                           randomness<layers - 1>(), int(n) + r, 0);
    }
  }

  template <int Layer> void backward(Memory& m, long n, int rows, A* gradients) const {
    using Dense = typename Layout::template Dense<Layer>;
    using Tile = DenseTile<Dense, P>;
    A const* const d_y = m.d[Layer % 2];
    Tile::backward_parameters(rows, m.value + Layout::value_at(Layer), d_y,
                              gradients + work.forward.weight[Layer],
                              Dense::bias ? gradients + work.forward.bias[Layer] : nullptr);
    if constexpr (Layer > 0) {
      using Before = typename Layout::template Dense<Layer - 1>::chain;
      A const* const kept = (Before::derivative_of == Derivative::output ? m.value : m.saved) +
                            Layout::value_at(Layer);
      Tile::template backward_input<Before>(rows, d_y, m.transposed + Layout::transposed_at(Layer),
                                            m.d[(Layer - 1) % 2], kept, randomness<Layer - 1>(),
                                            int(n));
    }
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

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Run<P> const& work, ExternalTensor const& source) {
    using A = typename P::accumulate;
    int pieces = pieces_of(exec, work.forward.batch);
    if (pieces > work.rows) pieces = work.rows;
    if (pieces == 0) pieces = 1;  // an empty batch has gradients of zero
    launch(exec, label, pieces, whole_step_piece<op::Segment<D...>, L, P>{work, source, pieces});
    if (pieces > 1)
      launch(exec, label, pieces,
             sum_pieces<A>{work.partial, work.gradients, work.parameter_count, pieces});
  }
};

}  // namespace phyllo::openmp
