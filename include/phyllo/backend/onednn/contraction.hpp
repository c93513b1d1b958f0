// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gemm_shape.hpp>
#include <phyllo/backend/host/contraction.hpp>
#include <phyllo/backend/onednn/activation.hpp>
#include <phyllo/backend/onednn/epilogue_rows.hpp>
#include <phyllo/backend/onednn/faster.hpp>
#include <phyllo/backend/onednn/matrix_product.hpp>
#include <phyllo/backend/onednn/sum_columns.hpp>
#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/backend/run_here.hpp>
#include <phyllo/policy/precision.hpp>

#include <string>
#include <type_traits>

namespace phyllo::inline PHYLLO_ISA::onednn {

/// A product on the caller's thread, which oneDNN leaves for its own threads.
struct run_product {
  ProductShape shape;
  void const* left = nullptr;   // (rows, depth)
  void const* right = nullptr;  // (depth, columns)
  void const* bias = nullptr;   // (columns), or nullptr
  void* result = nullptr;       // (rows, columns)

  void operator()(int) const { MatrixProduct::run(shape, left, right, bias, result); }
};

/// Contractions that are plain products of matrices by oneDNN where `Choice` says so and this
/// processor has its instructions; the others, and those whose epilogue would be computed from
/// rounded sums, by backend openmp.
///
/// options  Choice: a struct like Faster
/// numerics sums in float, in an order that depends on the number of threads; a chain of one
///          Tanh, Sigmoid or GELU is oneDNN's, on the sums before they are rounded
template <class Chain, class P, class Choice> struct Contraction {
  using Op = op::Contraction<Chain>;
  using S = typename P::storage;
  using A = typename P::accumulate;
  using Own = host::Kernels<Op, P>;
  static constexpr KernelTraits traits = Own::traits;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    bool const folded = work.fold.mean != nullptr;
    bool const one_pass = has_chain && !folded && work.saved == nullptr;
    Pass const pass = one_pass ? one_pass_kind : Pass::forward;
    if (!takes(pass, c, outputs) || !(one_pass || survives_rounding(folded)))
      return Own::run(exec, label, work);
    ProductShape s = shape(exec, c.rows, outputs, c.depth);
    s.bias = work.bias != nullptr;
    if (one_pass) s.activation = activation<Chain>;
    run_here(exec, label, 1, run_product{s, work.x, work.weight, work.bias, work.y});
    if (!one_pass)
      portable::launch(
          exec, label, c.rows,
          epilogue_rows<Chain, P>{host::ForwardEpilogue<Chain, P>(work), work.y, outputs});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    if (!takes(Pass::backward_input, c, work.output.channels)) return Own::run(exec, label, work);
    ProductShape s = shape(exec, c.rows, c.depth, work.output.channels);
    s.right_by_rows = false;
    s.accumulate = work.accumulate;
    run_here(exec, label, 1, run_product{s, work.d_z, work.weight, nullptr, work.d_x});
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    if (!takes(Pass::backward_parameters, c, outputs)) return Own::run(exec, label, work);
    ProductShape s = shape(exec, c.depth, outputs, c.rows);
    s.left_by_rows = false;
    s.result = data_type<A>;
    run_here(exec, label, 1, run_product{s, work.x, work.d_z, nullptr, work.d_weight});
    if (work.d_bias == nullptr) return;
    sum_columns<P> const bias{work.d_z, work.d_bias, c.rows, outputs};
    portable::launch(exec, label, bias.items(), bias);
  }

 private:
  static constexpr bool has_chain =
      Chain::length == 0 || activation<Chain> != dnnl::algorithm::undef;
  static constexpr Pass one_pass_kind = Chain::length == 0 ? Pass::forward
                                        : Chain::activation == Activation::gelu
                                            ? Pass::gelu_forward
                                            : Pass::activated_forward;

  // Whether what follows a product comes to the same after its sums were stored.
  static bool survives_rounding(bool folded) {
    return std::is_same_v<S, A> || (Chain::activation == Activation::rectifier && !folded);
  }
  static bool takes(Pass pass, GemmShape const& c, long outputs) {
    return c.plain && c.rows > 0 && Choice::template takes<S>(pass, c.rows, c.depth, outputs) &&
           MatrixProduct::knows<S>();
  }
  template <class Space>
  static ProductShape shape(Space const& exec, long rows, long columns, long depth) {
    ProductShape s;
    s.rows = rows;
    s.columns = columns;
    s.depth = depth;
    s.operands = s.result = data_type<S>;
    s.threads = exec.concurrency();
    return s;
  }
};

/// Kernels by oneDNN; ops and precisions that are not here are for the next backend of the list.
template <class Op, class Precision> struct Kernels;
template <class Chain>
struct Kernels<op::Contraction<Chain>, Full<float>> : Contraction<Chain, Full<float>, Faster> {};
template <class Chain>
struct Kernels<op::Contraction<Chain>, Mixed<bf16, float>>
    : Contraction<Chain, Mixed<bf16, float>, Faster> {};

}  // namespace phyllo::inline PHYLLO_ISA::onednn
