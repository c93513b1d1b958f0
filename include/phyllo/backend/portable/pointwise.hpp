// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/backend/portable/kernels.hpp>
#include <phyllo/op/add.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA::portable {

template <class Chain, class P> struct pointwise_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pointwise<Chain>::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    Element const e = work.random.element(int(at / work.size), int(at % work.size));
    work.y[at] = S(Chain::value(A(work.x[at]), e));
  }
};

template <class Chain, class P> struct pointwise_backward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Pointwise<Chain>::template Backward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    Element const e = work.random.element(int(at / work.size), int(at % work.size));
    A const kept = Chain::derivative_of == Derivative::nothing ? A(0) : A(work.saved[at]);
    A const d = A(work.d_y[at]) * Chain::derivative(kept, e);
    work.d_x[at] = S(work.accumulate ? A(work.d_x[at]) + d : d);
  }
};

template <class Chain, class P> struct add_forward {
  using A = typename P::accumulate;
  using S = typename P::storage;
  typename op::Add<Chain>::template Forward<P> work;

  PHYLLO_FUNCTION void operator()(long at) const {
    Element const e = work.random.element(int(at / work.size), int(at % work.size));
    A const sum = A(work.a[at]) + A(work.b[at]);
    if (work.saved != nullptr) work.saved[at] = S(sum);
    work.y[at] = S(Chain::value(sum, e));
  }
};

template <class Chain, class P> struct Kernels<op::Pointwise<Chain>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.size, pointwise_forward<Chain, P>{work});
  }
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Pointwise<Chain>::template Backward<P> const& work) {
    launch(exec, label, long(work.batch) * work.size, pointwise_backward<Chain, P>{work});
  }
};

template <class Chain, class P> struct Kernels<op::Add<Chain>, P> {
  template <class Space>
  static void run(Space const& exec, std::string const& label,
                  typename op::Add<Chain>::template Forward<P> const& work) {
    launch(exec, label, long(work.batch) * work.size, add_forward<Chain, P>{work});
  }
};

}  // namespace phyllo::inline PHYLLO_ISA::portable
