// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gpu/column_sums.hpp>
#include <phyllo/backend/gpu/matrix_product.hpp>
#include <phyllo/backend/gpu/product_finish.hpp>
#include <phyllo/backend/plain_contraction.hpp>
#include <phyllo/backend/portable/contraction.hpp>

#include <string>

namespace phyllo::gpu {

/// Contractions that are plain products of matrices, on matrix cores; the others run on the
/// portable backend.
///
/// options  Device: as in SegmentKernels
template <class Device, class Chain, class P> struct ContractionKernels {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  using Unit = typename Device::template Unit<S>;
  using Portable = portable::Kernels<Op, P>;
  /// Of outputs, which are many; of gradients of weights, which are few, so that all of a device's
  /// multiprocessors have some.
  using Wide = ProductShape<4, 2, 4>;
  using Small = ProductShape<2, 2, 2>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    if (!c.plain) return Portable::run(exec, label, work);
    long const outputs = work.output.channels;
    product<Wide>(exec, label, ProductOperand<S, true>(work.x, c.rows, c.depth),
                  ProductOperand<S, false>(work.weight, outputs, c.depth),
                  ForwardFinish<Unit, Chain, P>(work));
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    if (!c.plain) return Portable::run(exec, label, work);
    long const outputs = work.output.channels;
    product<Wide>(exec, label, ProductOperand<S, true>(work.d_z, c.rows, outputs),
                  ProductOperand<S, true>(work.weight, c.depth, outputs),
                  BackwardFinish<Unit, P>{work.d_x, int(c.depth), work.accumulate});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    PlainContraction const c(work.batch, work.input, work.window);
    if (!c.plain) return Portable::run(exec, label, work);
    int const outputs = work.output.channels;
    product<Small>(exec, label, ProductOperand<S, false>(work.x, c.depth, c.rows),
                   ProductOperand<S, false>(work.d_z, outputs, c.rows),
                   ParametersFinish<Unit>{work.d_weight, outputs});
    if (work.d_bias == nullptr) return;
    column_sums<Unit> const bias{work.d_z, work.d_bias, c.rows, outputs};
    Device::launch(exec, label, bias, bias.blocks());
  }

 private:
  template <class Shape, class Space, class Left, class Right, class Finish>
  static void product(Space const& exec, std::string const& label, Left const& left,
                      Right const& right, Finish const& finish) {
    matrix_product<Unit, Left, Right, Finish, Shape> const kernel{left, right, finish};
    if (kernel.blocks() > 0) Device::launch(exec, label, kernel, kernel.blocks());
  }
};

}  // namespace phyllo::gpu
