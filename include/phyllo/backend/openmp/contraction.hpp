// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/openmp/matrix_product.hpp>
#include <phyllo/backend/openmp/pair_product.hpp>
#include <phyllo/backend/openmp/product_finish.hpp>
#include <phyllo/backend/openmp/row_product.hpp>
#include <phyllo/backend/openmp/vector_product.hpp>
#include <phyllo/backend/plain_contraction.hpp>
#include <phyllo/backend/portable/contraction.hpp>

#include <type_traits>

namespace phyllo::openmp {

/// Contractions that are plain products of matrices, blocked for the caches; the others run on the
/// portable backend.
template <class Chain, class P> struct Kernels<op::Contraction<Chain>, P> {
  using Op = op::Contraction<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;
  using Portable = portable::Kernels<Op, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    if (!c.plain) return Portable::run(exec, label, work);
    int const outputs = work.output.channels;
    MatrixOperand<S, true> const x{work.x, c.depth}, weight{work.weight, outputs};
    ForwardFinish<Chain, P> const finish(work);
    bool const pairs = multiplies_pairs(c.rows, work.same_in_any_batch);
    if (c.rows != 1 || pairs)
      return product(exec, label, x, weight, finish, c.rows, outputs, c.depth, pairs);
    RowProduct<S, A, ForwardFinish<Chain, P>> row{work.x, weight, finish, outputs, c.depth};
    row.cut_for(exec.concurrency());
    launch(exec, label, row.pieces, row);
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    // One row is not worth packing: the portable kernel reads the weights once, too.
    if (!c.plain || c.rows == 1) return Portable::run(exec, label, work);
    int const outputs = work.output.channels;
    MatrixOperand<S, true> const d_z{work.d_z, outputs};
    MatrixOperand<S, false> const transposed{work.weight, outputs};
    product(exec, label, d_z, transposed, BackwardFinish<P>{work.d_x, c.depth, work.accumulate},
            c.rows, c.depth, outputs, multiplies_pairs(c.rows));
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    if (!c.plain) return Portable::run(exec, label, work);
    int const outputs = work.output.channels;
    MatrixOperand<S, false> const transposed{work.x, c.depth};
    MatrixOperand<S, true> const d_z{work.d_z, outputs};
    product(exec, label, transposed, d_z, ParametersFinish<P>{work.d_weight, outputs, work.d_bias},
            c.depth, outputs, c.rows, multiplies_pairs(c.depth));
  }

 private:
  // Whether a product of so many rows, or of any number of them, is one of pairs.
  static bool multiplies_pairs([[maybe_unused]] long rows, [[maybe_unused]] bool any_rows = false) {
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (std::is_same_v<S, bf16> && std::is_same_v<A, float>)
      return (any_rows || rows >= PairUnit::fewest_samples) && PairUnit::permitted();
#endif
    return false;
  }

  template <class Space, class Left, class Right, class Finish>
  static void product(Space const& exec, std::string const& label, Left const& left,
                      Right const& right, Finish const& finish, long rows, long columns, long depth,
                      [[maybe_unused]] bool pairs) {
#if defined(PHYLLO_HAS_PAIRS)
    if constexpr (std::is_same_v<S, bf16> && std::is_same_v<A, float>)
      if (pairs)
        return launch_product<PairProduct<PairUnit, Left::by_rows>>(exec, label, left, right,
                                                                    finish, rows, columns, depth);
#endif
    launch_product<VectorProduct<S, A, Left::by_rows>>(exec, label, left, right, finish, rows,
                                                       columns, depth);
  }
};

}  // namespace phyllo::openmp
