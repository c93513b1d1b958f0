// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/pointwise.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Each element by itself.
template <> struct Kind<Role::pointwise> {
  static constexpr KindFacts facts{
      .is_chain = true, .is_cheap = true, .segment = SegmentPart::chain};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.derivative_of = L::derivative_of;
    n.random = requires { requires L::random; };
    n.flops = n.output.size();
    if constexpr (requires { L::part; }) n.part = L::part;
  }

  template <class Planned, int S> using Op = op::Pointwise<typename Planned::template Chain<S>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.size = n.input.size();
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    work.random = pass.template randomness<S>();
    pass.template run<Op<Planned, S>>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    bool const of_output =
        Planned::liveness.chain_derivative(Planned::step(S)) == Derivative::output;
    typename Op<Planned, S>::template Backward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.size = n.input.size();
    work.saved = pass.value(of_output ? Planned::result(S) : n.source[0]);
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    work.random = pass.template randomness<S>();
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    step.write(i, typename Step::T(step.template source<0>()[i]));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
