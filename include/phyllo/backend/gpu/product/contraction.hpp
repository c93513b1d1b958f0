// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gemm_shape.hpp>
#include <phyllo/backend/gpu/product/column_sums.hpp>
#include <phyllo/backend/gpu/product/depth_parts.hpp>
#include <phyllo/backend/gpu/product/matrix_chunks.hpp>
#include <phyllo/backend/gpu/product/matrix_product.hpp>
#include <phyllo/backend/gpu/product/product_epilogue.hpp>
#include <phyllo/backend/gpu/product/staged_product.hpp>
#include <phyllo/backend/gpu/product/window_chunks.hpp>
#include <phyllo/backend/gpu/product/window_operand.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/contraction.hpp>
#include <phyllo/op/kernel_traits.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// Contractions on matrix cores: plain products of matrices, and convolutions as products with a
/// matrix that windows make.
///
/// options  Device: as in SegmentKernels
template <class Device, class Chain, class P> struct ContractionKernels {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  using MmaAtom = typename Device::template MmaAtom<S>;
  /// Of outputs, which are many; of gradients of weights, which are few, so that all of a device's
  /// multiprocessors have some.
  using Wide = ProductShape<4, 2, 4>;
  using Small = ProductShape<2, 2, 2>;
  /// Of gradients of parameters by parts of the batch.
  static constexpr KernelTraits traits = {.partial_count = DepthParts::partial_count};

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    ForwardEpilogue<MmaAtom, Chain, P> const epilogue(work);
    if constexpr (has_stages) {
      using Windows = WindowChunks<S, true, WindowPass::forward>;
      MatrixChunks<S, false> const weight{
          work.weight, outputs, c.plain ? c.depth : long(work.window.taps()) * work.input.channels};
      if (weight.fits()) {
        if (c.plain && has_chunks(work.x, c.depth))
          return staged(exec, label, MatrixChunks<S, true>{work.x, c.rows, c.depth}, weight,
                        epilogue);
        if (!c.plain && Windows::fits(work.x, work.batch, work.input, work.output, work.window))
          return staged(exec, label,
                        Windows(work.x, work.batch, work.input, work.output, work.window), weight,
                        epilogue);
      }
    }
    if (c.plain)
      product<Wide>(exec, label, ProductOperand<S, true>(work.x, c.rows, c.depth),
                    ProductOperand<S, false>(work.weight, outputs, c.depth), epilogue);
    else
      product<Wide>(exec, label,
                    WindowOperand<S, true, WindowPass::forward>(work.x, work.batch, work.input,
                                                                work.output, work.window),
                    ProductOperand<S, false>(work.weight, outputs,
                                             long(work.window.taps()) * work.input.channels),
                    epilogue);
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    int const outputs = work.output.channels, channels = work.input.channels;
    if constexpr (has_stages) {
      using Windows = WindowChunks<S, true, WindowPass::backward>;
      BackwardEpilogue<MmaAtom, P> const epilogue{work.d_x, c.plain ? int(c.depth) : channels,
                                                  work.accumulate};
      if (has_chunks(work.weight, outputs)) {
        if (c.plain && has_chunks(work.d_z, outputs))
          return staged(exec, label, MatrixChunks<S, true>{work.d_z, c.rows, outputs},
                        MatrixChunks<S, true>{work.weight, c.depth, outputs}, epilogue);
        if (!c.plain && Windows::fits(work.d_z, work.batch, work.output, work.input, work.window))
          return staged(
              exec, label, Windows(work.d_z, work.batch, work.output, work.input, work.window),
              TapsChunks<S>{work.weight, channels, long(work.window.taps()) * outputs, outputs},
              epilogue);
      }
    }
    if (c.plain)
      product<Wide>(exec, label, ProductOperand<S, true>(work.d_z, c.rows, outputs),
                    ProductOperand<S, true>(work.weight, c.depth, outputs),
                    BackwardEpilogue<MmaAtom, P>{work.d_x, int(c.depth), work.accumulate});
    else
      product<Wide>(exec, label,
                    WindowOperand<S, true, WindowPass::backward>(work.d_z, work.batch, work.output,
                                                                 work.input, work.window),
                    TapsOperand<S>(work.weight, work.window.taps(), channels, outputs),
                    BackwardEpilogue<MmaAtom, P>{work.d_x, channels, work.accumulate});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    int const outputs = work.output.channels;
    long const rows = c.plain ? c.rows : long(work.batch) * work.output.positions();
    long const inputs = c.plain ? c.depth : long(work.window.taps()) * work.input.channels;
    bool const is_square = takes_chunks(work, c) && inputs > Small::rows && outputs > Small::rows;
    DepthParts const parts(inputs, outputs, rows, is_square ? Square::rows : Small::rows,
                           work.partial != nullptr);
    ParametersEpilogue<MmaAtom> const epilogue{parts.weight > 1 ? work.partial : work.d_weight,
                                               outputs};
    if (is_square)
      multiply_chunks<Square>(exec, label, work, c, rows, epilogue, parts.weight);
    else if (takes_chunks(work, c))
      multiply_chunks<SmallSquare>(exec, label, work, c, rows, epilogue, parts.weight);
    else
      multiply(exec, label, work, c, rows, epilogue, parts.weight);
    sum_bias(exec, label, work, rows, parts);
    sum_parts const sum{{work.partial, parts.weight, inputs * outputs, work.d_weight},
                        bias_parts(work, parts)};
    portable::launch(exec, label, sum.items(), sum);
  }

  /// The gradient of the bias alone.
  template <class Space>
  static void run_bias(Space const& exec, std::string const& label,
                       typename Op::template BackwardParameters<P> const& work) {
    long const rows = long(work.batch) * work.output.positions();
    DepthParts const parts(1, work.output.channels, rows, Small::rows, work.partial != nullptr);
    sum_bias(exec, label, work, rows, parts);
    sum_parts const sum{{}, bias_parts(work, parts)};
    portable::launch(exec, label, sum.items(), sum);
  }

 private:
  using Parameters = typename Op::template BackwardParameters<P>;
  static constexpr bool has_stages = copies_chunks<MmaAtom>;
  using Square = StagedShape<2, 2, 4, 4>;
  using Narrow = StagedShape<2, 2, 4, 2>;
  using SmallSquare = StagedShape<2, 2, 2, 2>;
  using ImageChunks = WindowChunks<S, false, WindowPass::forward>;

  static bool takes_chunks(Parameters const& work, GemmShape const& c) {
    return has_stages && has_chunks(work.d_z, work.output.channels) &&
           (c.plain ? has_chunks(work.x, c.depth)
                    : ImageChunks::fits(work.x, work.batch, work.input, work.output, work.window));
  }
  template <class Shape, class Space>
  static void multiply_chunks(Space const& exec, std::string const& label, Parameters const& work,
                              GemmShape const& c, long rows,
                              ParametersEpilogue<MmaAtom> const& epilogue, int parts) {
    if constexpr (has_stages) {
      MatrixChunks<S, false> const d_z{work.d_z, work.output.channels, rows};
      if (c.plain)
        staged<Shape>(exec, label, MatrixChunks<S, false>{work.x, c.depth, rows}, d_z, epilogue,
                      parts);
      else
        staged<Shape>(exec, label,
                      ImageChunks(work.x, work.batch, work.input, work.output, work.window), d_z,
                      epilogue, parts);
    }
  }
  template <class Space>
  static void multiply(Space const& exec, std::string const& label, Parameters const& work,
                       GemmShape const& c, long rows, ParametersEpilogue<MmaAtom> const& epilogue,
                       int parts) {
    ProductOperand<S, false> const d_z(work.d_z, work.output.channels, rows);
    if (c.plain)
      product<Small>(exec, label, ProductOperand<S, false>(work.x, c.depth, rows), d_z, epilogue,
                     parts);
    else
      product<Small>(exec, label,
                     WindowOperand<S, false, WindowPass::forward>(work.x, work.batch, work.input,
                                                                  work.output, work.window),
                     d_z, epilogue, parts);
  }

  static PartialSums bias_parts(Parameters const& work, DepthParts const& parts) {
    return {work.partial != nullptr ? work.partial + parts.bias_begin() : nullptr, parts.bias,
            work.d_bias == nullptr ? 0 : work.output.channels, work.d_bias};
  }
  template <class Space>
  static void sum_bias(Space const& exec, std::string const& label, Parameters const& work,
                       long rows, DepthParts const& parts) {
    if (work.d_bias == nullptr) return;
    int const outputs = work.output.channels;
    column_sums<MmaAtom::lanes, ColumnValues<S>> const bias{
        {work.d_z, outputs},
        parts.bias > 1 ? work.partial + parts.bias_begin() : work.d_bias,
        rows,
        outputs,
        parts.bias};
    Device::launch(exec, label, bias, bias.blocks());
  }
  template <class Shape, class Space, class Left, class Right, class Epilogue>
  static void product(Space const& exec, std::string const& label, Left const& left,
                      Right const& right, Epilogue const& epilogue, int depth_parts = 1) {
    matrix_product<MmaAtom, Left, Right, Epilogue, Shape> const kernel{left, right, epilogue,
                                                                       depth_parts};
    if (kernel.blocks() > 0) Device::launch(exec, label, kernel, kernel.blocks());
  }
  template <class Shape, class Space, class Left, class Right, class Epilogue>
  static void staged(Space const& exec, std::string const& label, Left const& left,
                     Right const& right, Epilogue const& epilogue, int depth_parts) {
    staged_product<MmaAtom, Left, Right, Epilogue, Shape> const kernel{left, right, epilogue,
                                                                       depth_parts};
    if (kernel.blocks() > 0) Device::launch(exec, label, kernel, kernel.blocks());
  }
  /// Narrow tiles where wide ones would compute zeros, or leave multiprocessors without any.
  template <class Space, class Left, class Right, class Epilogue>
  static void staged(Space const& exec, std::string const& label, Left const& left,
                     Right const& right, Epilogue const& epilogue) {
    long const squares = (left.lines + Square::rows - 1) / Square::rows *
                         ((right.lines + Square::columns - 1) / Square::columns);
    if (right.lines <= Narrow::columns || squares < Device::multiprocessors(exec))
      staged<Narrow>(exec, label, left, right, epilogue, 1);
    else
      staged<Square>(exec, label, left, right, epilogue, 1);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
