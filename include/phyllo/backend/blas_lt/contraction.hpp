// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/blas_lt/products.hpp>
#include <phyllo/backend/blas_lt/wide.hpp>
#include <phyllo/backend/gemm_shape.hpp>
#include <phyllo/backend/gpu/product/contraction.hpp>
#include <phyllo/backend/portable/pointwise.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/policy/precision.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA::blas_lt {

/// Contractions that are plain products of matrices by a vendor's library where `Choice` says so:
/// bias and ReLU in the product, the gradient of the bias in that of the weight. The others, and
/// those that the library has no algorithm for, by backend/gpu.
///
/// The library's GELU is the approximation by a tanh, which is not Phyllo's, and other functions it
/// has none: these layers keep their epilogue, and backend/gpu.
///
/// options  Library: cuda::CublasLt, hip::HipblasLt · Device: as in SegmentKernels · Choice: a
///          struct like Wide
/// numerics sums in float, in an order that the library chooses by the shape
template <class Library, class Device, class Chain, class P, class Choice> struct Contraction {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  using Own = gpu::ContractionKernels<Device, Chain, P>;
  using Space = typename Library::space;
  static constexpr KernelTraits traits = Own::traits;

  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    if (!has_chain || work.fold.mean != nullptr || work.saved != nullptr ||
        !takes(Pass::forward, c, work.output.channels))
      return Own::run(exec, label, work);
    ProductShape s = shape(c.rows, work.output.channels, c.depth);
    ProductMemory const memory{work.x, work.weight, const_cast<S*>(work.bias), work.y};
    if (work.bias != nullptr) s.epilogue = is_relu ? Epilogue::bias_relu : Epilogue::bias;
    auto& products = Products<Library>::of(exec);
    if (s.epilogue == Epilogue::bias_relu && !products.template keeps_nan<S>(exec, s, memory))
      s.epilogue = Epilogue::bias;
    if (!products.run(exec, s, memory)) return Own::run(exec, label, work);
    // The rectifier of rounded sums is that of sums, rounded.
    if constexpr (is_relu)
      if (s.epilogue != Epilogue::bias_relu)
        portable::Kernels<op::Pointwise<Chain>, P>::run(
            exec, label,
            typename op::Pointwise<Chain>::template Forward<P>{work.batch, work.output.size(),
                                                               work.y, work.y, work.random});
  }

  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    if (takes(Pass::backward_input, c, work.output.channels)) {
      ProductShape s = shape(c.rows, c.depth, work.output.channels);
      s.right_by_rows = false;
      s.accumulate = work.accumulate;
      if (Products<Library>::of(exec).run(exec, s, {work.d_z, work.weight, nullptr, work.d_x}))
        return;
    }
    Own::run(exec, label, work);
  }

  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    if (takes(Pass::backward_parameters, c, work.output.channels)) {
      ProductShape s = shape(c.depth, work.output.channels, c.rows);
      s.left_by_rows = false;
      s.result = NumberType::float32;
      auto& products = Products<Library>::of(exec);
      ProductMemory const memory{work.x, work.d_z, work.d_bias, work.d_weight};
      if (work.d_bias != nullptr) {
        s.epilogue = Epilogue::sum_of_columns;
        if (products.run(exec, s, memory)) return;
        s.epilogue = Epilogue::none;
      }
      if (products.run(exec, s, {work.x, work.d_z, nullptr, work.d_weight}))
        return Own::run_bias(exec, label, work);
    }
    Own::run(exec, label, work);
  }

 private:
  static constexpr bool is_relu = Chain::activation == Activation::rectifier;
  static constexpr bool has_chain = Chain::length == 0 || is_relu;

  static bool takes(Pass pass, GemmShape const& c, long outputs) {
    return c.plain && c.rows > 0 && Choice::template takes<S>(pass, c.rows, c.depth, outputs);
  }
  static ProductShape shape(long rows, long columns, long depth) {
    ProductShape s;
    s.rows = rows;
    s.columns = columns;
    s.depth = depth;
    s.factors = s.result = number_type<S>;
    return s;
  }
};

/// Kernels by a vendor's library; ops that are not here are for the next backend of the list.
template <class Library, class Device, class Op, class Precision> struct Kernels;
template <class Library, class Device, class Chain>
struct Kernels<Library, Device, op::Contraction<Chain>, Mixed<bf16, float>>
    : Contraction<Library, Device, Chain, Mixed<bf16, float>, Wide> {};
template <class Library, class Device, class Chain>
struct Kernels<Library, Device, op::Contraction<Chain>, Mixed<fp16, float>>
    : Contraction<Library, Device, Chain, Mixed<fp16, float>, Wide> {};

}  // namespace phyllo::inline PHYLLO_ISA::blas_lt
