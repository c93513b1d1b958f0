// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/host/simd/register_block.hpp>
#include <phyllo/op/chain.hpp>

#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA::host {

/// A number as the storage type keeps it, in the type that sums are made in.
template <class P> PHYLLO_INLINE_ON_HOST typename P::accumulate rounded(typename P::accumulate x) {
  if constexpr (std::is_same_v<typename P::storage, typename P::accumulate>)
    return x;
  else
    return typename P::accumulate(typename P::storage(x));
}

/// One Linear layer with its chain on a tile of samples that stays in the first-level cache.
///
/// shape    x (rows, inputs) -> y (rows, outputs); in a tile, rows are BlockShape::stride apart
/// numerics sums in Precision::accumulate in rising order of the inputs, whatever the row's place;
///          results rounded to Precision::storage
/// cost     2 inputs outputs FLOPs a row
template <class D, class P> struct DenseTile {
  using A = typename P::accumulate;
  using Outputs = BlockShape<A, D::outputs>;
  using Inputs = BlockShape<A, D::inputs>;
  using Chain = typename D::chain;
  static constexpr int x_stride = Inputs::stride;
  static constexpr int y_stride = Outputs::stride;
  static constexpr bool rounds = !std::is_same_v<typename P::storage, A>;

  /// y = chain(x W + b) of `rows` samples; `saved`, unless null, keeps the chain's input. Rows up
  /// to padded_rows(rows) are read and written as well. W: the type of sums, or of storage.
  template <class W, class Between>
  static void forward(int rows, A const* x, W const* weight, long weight_stride, W const* bias,
                      A* y, A* saved, Randomness const& random, int first_sample,
                      Between const& between_blocks) {
    panels([&](auto panel) {
      constexpr int p = decltype(panel)::value;
      constexpr int width = Outputs::template width<p>;
      constexpr int column = Outputs::template first<p> * lanes<A>;
      constexpr int block = Outputs::sample_rows(width);
      int row = 0;
      for (; row + 2 < rows; row += block) {
        between_blocks();
        forward_block<block, p>(row, x, weight + column, weight_stride,
                                bias == nullptr ? nullptr : bias + column, y, saved, random,
                                first_sample);
      }
      for (; row < rows; ++row)  // one or two samples do not fill a block
        forward_block<1, p>(row, x, weight + column, weight_stride,
                            bias == nullptr ? nullptr : bias + column, y, saved, random,
                            first_sample);
    });
  }

  /// d_x = (d_y W^T, plus `more` unless null) times the derivative of the chain before, whose input
  /// or output is `kept`.
  template <class ChainBefore>
  static void backward_input(int rows, A const* d_y, A const* transposed, A* d_x, A const* more,
                             A const* kept, Randomness const& random, int first_sample) {
    input_panels([&](auto panel) {
      constexpr int p = decltype(panel)::value;
      constexpr int width = Inputs::template width<p>;
      constexpr int column = Inputs::template first<p> * lanes<A>;
      constexpr int rows_a_block = Inputs::sample_rows(width);
      for (int row = 0; row < rows; row += rows_a_block)
        input_block<ChainBefore, rows_a_block, width>(
            d_y + row * y_stride, transposed + column, d_x + long(row) * x_stride + column,
            more == nullptr ? nullptr : more + long(row) * x_stride + column,
            kept + long(row) * x_stride + column, random, first_sample + row, column);
    });
  }

  /// d_weight += x^T d_y and d_bias += the sum of the rows of d_y.
  template <class Between>
  static void backward_parameters(int rows, A const* x, A const* d_y, A* d_weight, A* d_bias,
                                  Between const& between_blocks) {
    panels([&](auto panel) {
      constexpr int p = decltype(panel)::value;
      constexpr int width = Outputs::template width<p>, last = Outputs::template last<p>;
      constexpr int column = Outputs::template first<p> * lanes<A>;
      constexpr int block = Outputs::rows(width, D::inputs);
      constexpr int whole = (D::inputs - 1) / block * block;
      for (int i = 0; i < whole; i += block) {
        between_blocks();
        gradient_block<block, width, last>(rows, x + i, d_y + column,
                                           d_weight + i * D::outputs + column);
      }
      gradient_block<D::inputs - whole, width, last>(rows, x + whole, d_y + column,
                                                     d_weight + whole * D::outputs + column);
    });
    if constexpr (D::bias) add_rows<0>(rows, d_y, d_bias);
  }
  /// How often backward_parameters calls `between_blocks`, but for panels of one block.
  static constexpr int gradient_blocks = Outputs::panels * (D::inputs / 12 + 1);

  /// d times the derivative of a chain, for `count` channels of one sample from `column` on.
  template <class C>
  static void differentiate(A* d, A const* kept, int count, Randomness const& random, int sample,
                            int column) {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) {
      Element e;
      if constexpr (C::random) e = random.element(sample, column + i);
      if constexpr (C::length > 0)
        d[i] = rounded<P>(d[i] * C::derivative(kept[i], e));
      else
        d[i] = rounded<P>(d[i]);
    }
  }

 private:
  static void round(A* numbers, int count) {
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) numbers[i] = rounded<P>(numbers[i]);
  }
  template <class Function> PHYLLO_INLINE_ON_HOST static void panels(Function const& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(std::integral_constant<int, I>{}), ...);
    }(std::make_integer_sequence<int, Outputs::panels>{});
  }
  template <class Function> PHYLLO_INLINE_ON_HOST static void input_panels(Function const& f) {
    [&]<int... I>(std::integer_sequence<int, I...>) {
      (f(std::integral_constant<int, I>{}), ...);
    }(std::make_integer_sequence<int, Inputs::panels>{});
  }

  template <int Rows, int Panel, class W>
  static void forward_block(int row, A const* x, W const* weight, long weight_stride, W const* bias,
                            A* y, A* saved, Randomness const& random, int first_sample) {
    constexpr int width = Outputs::template width<Panel>;
    constexpr int column = Outputs::template first<Panel> * lanes<A>;
    RegisterBlock<A, Rows, width, Outputs::template last<Panel>> block;
    block.begin(bias);
    block.multiply(x + long(row) * x_stride, x_stride, 1, weight, weight_stride, D::inputs);
    long const at = long(row) * y_stride + column;
    if (saved != nullptr) block.store_lines(saved + at, y_stride);
    block.store_lines(y + at, y_stride);
    A* const kept = rounds && saved != nullptr ? saved + at : nullptr;
    if constexpr (Chain::needs_constants || rounds)
      apply_apart<Rows, width * lanes<A>>(y + at, kept, random, first_sample + row, column);
    else if constexpr (Chain::length > 0)
      apply<Rows, width * lanes<A>>(y + at, kept, random, first_sample + row, column);
  }

  // Chains with constants and the blocks backwards are functions of their own: inlined into a loop
  // over blocks, the constants stay in registers all the while, and sums go to memory instead.
  template <int Rows, int Count>
  PHYLLO_NOINLINE static void apply_apart(A* y, A* saved, Randomness const& random,
                                          int first_sample, int column) {
    apply<Rows, Count>(y, saved, random, first_sample, column);
  }
  template <int Rows, int Count>
  PHYLLO_INLINE_ON_HOST static void apply(A* y, [[maybe_unused]] A* saved, Randomness const& random,
                                          int first_sample, int column) {
    for (int r = 0; r < Rows; ++r, y += y_stride) {
      if constexpr (rounds)
        if (saved != nullptr) round(saved + r * y_stride, Count);
      PHYLLO_SIMD(16)
      for (int i = 0; i < Count; ++i) {
        Element e;
        if constexpr (Chain::random) e = random.element(first_sample + r, column + i);
        y[i] = rounded<P>(Chain::value(y[i], e));
      }
    }
  }

  // d_bias += the rows of d_y, from one vector on: as many sums side by side as additions are on
  // their way at once.
  template <int First> static void add_rows(int rows, A const* d_y, A* d_bias) {
    constexpr int rest = Outputs::vectors - First, width = rest < 8 ? rest : 8;
    constexpr int last = width == rest ? D::outputs - (Outputs::vectors - 1) * lanes<A> : lanes<A>;
    RegisterBlock<A, 1, width, last> sums;
    sums.begin(static_cast<A const*>(nullptr));
    d_y += First * lanes<A>;
    for (int r = 0; r < rows; ++r, d_y += y_stride)
      for (int v = 0; v < width; ++v)
        sums.sum[0][v] = InstructionSet::add(sums.sum[0][v], sums.load(d_y, v));
    sums.add_rows_to(d_bias + First * lanes<A>, 0);
    if constexpr (width < rest)
      add_rows<First + width>(rows, d_y - rows * long(y_stride) - First * lanes<A>, d_bias);
  }

  template <class ChainBefore, int Rows, int Width>
  PHYLLO_NOINLINE static void input_block(A const* d_y, A const* transposed, A* d_x, A const* more,
                                          A const* kept, Randomness const& random, int first_sample,
                                          int column) {
    // The transposed weights are padded: every lane is part of them.
    RegisterBlock<A, Rows, Width, lanes<A>> block;
    if (more == nullptr)
      block.begin(more);
    else
      block.load_rows(more, x_stride);
    block.multiply(d_y, y_stride, 1, transposed, x_stride, D::outputs);
    block.store_lines(d_x, x_stride);
    if constexpr (ChainBefore::length > 0 || rounds)
      for (int r = 0; r < Rows; ++r)
        differentiate<ChainBefore>(d_x + r * x_stride, kept + r * x_stride, Width * lanes<A>,
                                   random, first_sample + r, column);
  }

  template <int Rows, int Width, int Last>
  PHYLLO_NOINLINE static void gradient_block(int samples, A const* x, A const* d_y, A* d_weight) {
    RegisterBlock<A, Rows, Width, Last> block;
    block.begin(static_cast<A const*>(nullptr));
    block.multiply(x, 1, x_stride, d_y, y_stride, samples);
    block.add_rows_to(d_weight, D::outputs);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
