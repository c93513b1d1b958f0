// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/gemm_shape.hpp>
#include <phyllo/backend/kokkos_kernels/kernels.hpp>
#include <phyllo/backend/kokkos_kernels/wide.hpp>
#include <phyllo/backend/portable/contraction.hpp>
#include <phyllo/backend/portable/pointwise.hpp>
#include <phyllo/policy/precision.hpp>

#include <KokkosBlas3_gemm.hpp>

#include <cstddef>
#include <string>

namespace phyllo::inline PHYLLO_ISA::kokkos_kernels {

/// Every row the bias, to which a product is added. One work item: one number.
template <class T> struct repeat_bias {
  T const* bias = nullptr;
  T* y = nullptr;
  long outputs = 1;
  PHYLLO_FUNCTION void operator()(long at) const { y[at] = bias[at % outputs]; }
};

/// Contractions that are plain products of matrices by KokkosBlas::gemm where `Choice` says so;
/// bias before, chain behind the product. The others, and those with a normalisation folded in, by
/// backend portable. Numbers and sums have one type.
///
/// options  Choice: a struct like Wide
/// numerics sums in an order that the library chooses
template <class Chain, class P, class Choice> struct Contraction {
  using Op = op::Contraction<Chain>;
  using T = typename P::storage;
  using Own = portable::Kernels<Op, P>;

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template Forward<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    if (work.fold.mean != nullptr || !takes(c, outputs)) return Own::run(exec, label, work);
    T* const z = work.saved != nullptr ? work.saved : work.y;
    if (work.bias != nullptr)
      portable::launch(exec, label, c.rows * outputs, repeat_bias<T>{work.bias, z, outputs});
    // The transposes by columns: y^T = weight^T x^T
    KokkosBlas::gemm(exec, "N", "N", T(1), matrix<Space>(work.weight, outputs, c.depth),
                     matrix<Space>(work.x, c.depth, c.rows), T(work.bias != nullptr ? 1 : 0),
                     matrix<Space>(z, outputs, c.rows));
    if (Chain::length > 0 || z != work.y) {
      using Pointwise = op::Pointwise<Chain>;
      portable::Kernels<Pointwise, P>::run(
          exec, label,
          typename Pointwise::template Forward<P>{work.batch, work.output.size(), z, work.y,
                                                  work.random});
    }
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardInput<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    if (!takes(c, outputs)) return Own::run(exec, label, work);
    // d_x^T (+)= weight d_z^T
    KokkosBlas::gemm(exec, "T", "N", T(1), matrix<Space>(work.weight, outputs, c.depth),
                     matrix<Space>(work.d_z, outputs, c.rows), T(work.accumulate ? 1 : 0),
                     matrix<Space>(work.d_x, c.depth, c.rows));
  }

  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename Op::template BackwardParameters<P> const& work) {
    GemmShape const c(work.batch, work.input, work.window);
    long const outputs = work.output.channels;
    if (!takes(c, outputs)) return Own::run(exec, label, work);
    // d_weight^T = d_z^T x
    KokkosBlas::gemm(exec, "N", "T", T(1), matrix<Space>(work.d_z, outputs, c.rows),
                     matrix<Space>(work.x, c.depth, c.rows), T(0),
                     matrix<Space>(work.d_weight, outputs, c.depth));
    if (work.d_bias != nullptr)
      portable::launch(exec, label, portable::blocks_of(outputs, portable::block),
                       portable::contraction_backward_bias<Chain, P>{work});
  }

 private:
  // Rows of a flat array are columns of its transpose.
  template <class Space, class Element> static auto matrix(Element* data, long rows, long columns) {
    using View =
        Kokkos::View<Element**, Kokkos::LayoutLeft,
                     Kokkos::Device<Space, typename Space::memory_space>, Kokkos::MemoryUnmanaged>;
    return View(data, std::size_t(rows), std::size_t(columns));
  }
  static bool takes(GemmShape const& c, long outputs) {
    return c.plain && c.rows > 0 && Choice::takes(c.rows, c.depth, outputs);
  }
};

template <class Chain>
struct Kernels<op::Contraction<Chain>, Full<double>> : Contraction<Chain, Full<double>, Wide> {};

}  // namespace phyllo::inline PHYLLO_ISA::kokkos_kernels
