// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gemm_shape.hpp>
#include <phyllo/backend/host/gemm/few_rows_gradients.hpp>
#include <phyllo/backend/host/gemm/few_rows_product.hpp>
#include <phyllo/backend/host/gemm/matrix_product.hpp>
#include <phyllo/backend/host/gemm/product_epilogue.hpp>
#include <phyllo/backend/host/gemm/scatter_epilogue.hpp>
#include <phyllo/backend/host/gemm/stride_phase.hpp>
#include <phyllo/backend/host/gemm/vector_product.hpp>
#include <phyllo/backend/host/gemm/window_operand.hpp>
#include <phyllo/backend/host/pairs/pair_product.hpp>
#include <phyllo/backend/host/simd/row_product.hpp>
#include <phyllo/backend/portable/contraction.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::host {

/// Contractions as products of matrices, blocked for the caches; those with windows read their
/// operands where they stand: nothing is unfolded in memory.
template <class Chain, class P> struct Kernels<op::Contraction<Chain>, P> {
  using Op = op::Contraction<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Portable = portable::Kernels<Op, P>;
  static constexpr KernelTraits traits = {.thread_bytes = long(product_bytes)};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    int const outputs = work.output.channels;
    ForwardEpilogue<Chain, P> const epilogue(work);
    MatrixOperand<S, true> const weight{work.weight, outputs};
    if (!c.plain) {
      long const rows = long(work.batch) * work.output.positions();
      return product(exec, label, window<true>(work), weight, epilogue, work.memory, rows, outputs,
                     long(work.window.taps()) * work.input.channels,
                     multiplies_pairs(rows, work.same_in_any_batch));
    }
    MatrixOperand<S, true> const x{work.x, c.depth};
    bool const pairs = multiplies_pairs(c.rows, work.same_in_any_batch);
    if (!is_few(c.rows, pairs))
      return product(exec, label, x, weight, epilogue, work.memory, c.rows, outputs, c.depth,
                     pairs);
    if (c.rows == 1 && !work.same_in_any_batch) {
      using Row = RowProduct<S, A, ForwardEpilogue<Chain, P>>;
      return launch_few(exec, label, Row{work.x, weight, epilogue, outputs, c.depth},
                        exec.concurrency());
    }
    FewRowsProduct<S, A, ForwardEpilogue<Chain, P>> few{work.x,      weight,  epilogue, work.memory,
                                                        int(c.rows), outputs, c.depth};
    launch_few(exec, label, few, slices_of(exec, work.memory));
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    if (!c.plain && leaves_columns_empty(work.input.channels, work.output.channels))
      return Portable::run(exec, label, work);
    if (!c.plain) {
      for (int i = 0; i < StridePhase::count(work.window); ++i)
        run_class(exec, label, work, StridePhase(work.input, work.output, work.window, i));
      return;
    }
    int const outputs = work.output.channels;
    MatrixOperand<S, true> const d_z{work.d_z, outputs};
    bool const pairs = multiplies_pairs(c.rows);
    if (is_few(c.rows, pairs))
      return launch_few(exec, label,
                        FewRowsInputGradient<S, A>{d_z,
                                                   {work.weight, outputs},
                                                   work.d_x,
                                                   work.accumulate,
                                                   int(c.rows),
                                                   c.depth,
                                                   outputs},
                        exec.concurrency());
    MatrixOperand<S, false> const transposed{work.weight, outputs};
    product(exec, label, d_z, transposed, BackwardEpilogue<P>{work.d_x, c.depth, work.accumulate},
            work.memory, c.rows, c.depth, outputs, pairs);
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    int const outputs = work.output.channels;
    if (!c.plain && packs_nothing(work.input.channels, outputs))
      return Portable::run(exec, label, work);
    MatrixOperand<S, true> const d_z{work.d_z, outputs};
    ParametersEpilogue<P> const epilogue{work.d_weight, outputs, work.d_bias};
    if (!c.plain) {
      long const rows = long(work.window.taps()) * work.input.channels;
      return product(exec, label, window<false>(work), d_z, epilogue, work.memory, rows, outputs,
                     long(work.batch) * work.output.positions(), multiplies_pairs(rows));
    }
    bool const pairs = multiplies_pairs(c.depth);
    if (is_few(c.rows, pairs))
      return launch_few(
          exec, label,
          FewRowsWeightGradient<S, A>{
              {work.x, c.depth}, d_z, work.d_weight, work.d_bias, c.depth, outputs, int(c.rows)},
          exec.concurrency());
    MatrixOperand<S, false> const transposed{work.x, c.depth};
    product(exec, label, transposed, d_z, epilogue, work.memory, c.depth, outputs, c.rows, pairs);
  }

 private:
  template <bool ByRows, class Work> static WindowOperand<S, ByRows> window(Work const& work) {
    PositionGrid grid;
    for (int d = 0; d < 3; ++d) {
      grid.extent[d] = work.output.spatial[d];
      grid.first[d] = -work.window.padding[d];
      grid.step[d] = work.window.stride[d];
      grid.image[d] = work.input.spatial[d];
    }
    return {work.x, work.batch, work.input.channels, grid, work.window.size};
  }

  // Gradients of weights that fill the registers of the portable kernel, which packs nothing: 16x16
  // positions, 16 to 16 channels, windows of 3x3 at 102 GFLOP/s there and 62 here, float; 51 and
  // 41, double. With 32 outputs it is even; with more, and in 16 bits, this is faster (g++ 16, -O3,
  // one core of a Zen 4 with AVX-512).
  static bool packs_nothing(int channels, int outputs) {
    return std::is_same_v<S, A> && outputs == portable::block &&
           channels % portable::channel_block == 0;
  }

  // Gradients by an image of so few channels that most of a vector would be zeros; the portable
  // kernel's vectors run over outputs. 64 to 3 channels, windows of 7x7, stride 2: 28 GFLOP/s there
  // and 13 here; 32 to 3 channels, 3x3: 15 and 11; 64 to 6: even (as above, float).
  static bool leaves_columns_empty(int channels, int outputs) {
    return std::is_same_v<S, A> && channels <= portable::channel_block &&
           outputs >= 2 * portable::block;
  }

  // The gradient at the input positions of one class.
  template <class Space, class Work>
  static void run_class(Space const& exec, std::string const& label, Work const& work,
                        StridePhase const& c) {
    if (work.accumulate && c.tap_count() == 0) return;
    int const channels = work.input.channels, outputs = work.output.channels;
    long const rows = long(work.batch) * c.reached.positions();
    WindowOperand<S, true> const d_z(work.d_z, work.batch, outputs, c.seen, c.taps);
    TapsOperand<S> weight{work.weight, channels, outputs};
    for (int d = 0; d < 3; ++d) {
      weight.size[d] = work.window.size[d];
      weight.count[d] = c.taps[d];
      weight.last[d] = c.last[d];
      weight.step[d] = work.window.stride[d];
    }
    product(exec, label, d_z, weight,
            ScatterEpilogue<P>{work.d_x, channels, work.accumulate, c.reached}, work.memory, rows,
            channels, long(c.tap_count()) * outputs, multiplies_pairs(rows));
  }

  static bool is_few(long rows, bool pairs) { return !pairs && rows > 0 && rows <= few_rows; }
  template <class Space> static int slices_of(Space const& exec, op::WorkMemory const& memory) {
    KOKKOS_ASSERT(memory.slices > 0);
    return exec.concurrency() < memory.slices ? int(exec.concurrency()) : memory.slices;
  }
  template <class Space, class Product>
  static void launch_few(Space const& exec, std::string const& label, Product few, int threads) {
    few.cut_for(threads);
    launch(exec, label, few.pieces, few);
  }

  // Whether a product of so many rows, or of any number of them, is one of pairs.
  static bool multiplies_pairs([[maybe_unused]] long rows, [[maybe_unused]] bool any_rows = false) {
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (std::is_same_v<S, bf16> && std::is_same_v<A, float>)
      return (any_rows || rows >= PairInstruction::fewest_samples) && PairInstruction::permitted();
#endif
    return false;
  }

  template <class Space, class Left, class Right, class Epilogue>
  static void product(Space const& exec, std::string const& label, Left const& left,
                      Right const& right, Epilogue const& epilogue, op::WorkMemory const& memory,
                      long rows, long columns, long depth, [[maybe_unused]] bool pairs) {
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (std::is_same_v<S, bf16> && std::is_same_v<A, float>)
      if (pairs)
        return launch_product<PairProduct<PairInstruction, Left>>(
            exec, label, left, right, epilogue, memory, rows, columns, depth);
#endif
    launch_product<VectorProduct<A, Left>>(exec, label, left, right, epilogue, memory, rows,
                                           columns, depth);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::host
