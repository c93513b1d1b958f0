// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/reference/kernels.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA::reference {

template <class Chain, class P> struct Kernels<op::Pointwise<Chain>, P> {
  using Op = op::Pointwise<Chain>;
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.size; ++i) {
        long const at = long(n) * work.size + i;
        work.y[at] = S(Chain::value(A(work.x[at]), work.random.element(n, i)));
      }
  }

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename Op::template Backward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.size; ++i) {
        long const at = long(n) * work.size + i;
        A const kept = Chain::derivative_of == Derivative::nothing ? A(0) : A(work.saved[at]);
        A const d = A(work.d_y[at]) * Chain::derivative(kept, work.random.element(n, i));
        work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + d : d);
      }
  }
};

template <class Chain, class P> struct Kernels<op::Add<Chain>, P> {
  using A = typename P::accumulate;
  using S = typename P::storage;

  template <class Space>
  static void run(Space const& exec, std::string const&,
                  typename op::Add<Chain>::template Forward<P> const& work) {
    wait(exec);
    for (int n = 0; n < work.batch; ++n)
      for (int i = 0; i < work.size; ++i) {
        long const at = long(n) * work.size + i;
        A const sum = A(work.a[at]) + A(work.b[at]);
        if (work.saved != nullptr) work.saved[at] = S(sum);
        work.y[at] = S(Chain::value(sum, work.random.element(n, i)));
      }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::reference
