// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/sparse_product.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A sparse matrix that the caller binds to the model, times rows of channels: samples, or the
/// positions of samples. The number of its entries is unknown to plans.
///
/// state    the layer's `matrix`, the name of it
template <> struct Kind<Role::sparse_product> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr void describe(Node&, Shape const*) {}

  template <class, int> using Op = op::SparseProduct;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    multiply<S>(pass, pass.template matrix<S>(), pass.value(Planned::head(S).source[0]),
                pass.value(Planned::result(S)), false);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    if (!pass.template wants<S>(0)) return;
    multiply<S>(pass, pass.template transposed_matrix<S>(), pass.template result_gradient<S>(),
                pass.gradient(Planned::head(S).source[0]), Planned::liveness.accumulates(S, 0));
  }

 private:
  template <int S, class Pass, class Matrix, class Storage>
  static void multiply(Pass const& pass, Matrix const& matrix, Storage const* x, Storage* y,
                       bool accumulate) {
    constexpr Node n = Pass::plan::head(S);
    op::SparseProduct::Product<typename Pass::precision> work;
    work.matrix = matrix;
    work.groups = matrix.rows > 0 ? long(pass.batch) * n.input.positions() / matrix.rows : 0;
    work.channels = n.input.channels;
    work.x = x;
    work.y = y;
    work.accumulate = accumulate;
    pass.template run<op::SparseProduct>(S, work);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
