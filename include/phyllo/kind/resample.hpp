// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/upsample.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Nearest-neighbour upsampling.
template <> struct Kind<Role::resample> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr void describe(Node&, Shape const*) {}

  template <class, int> using Op = op::Upsample;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Upsample::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Upsample>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    op::Upsample::Backward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.d_y = pass.gradient(Planned::result(S));
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<op::Upsample>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    int const from = nearest<typename Step::Facts>(i / Step::O) * Step::C + i % Step::O;
    step.write(i, typename Step::T(step.template source<0>()[from]));
  }

 private:
  // The position that output position q copies.
  template <class Facts> PHYLLO_FUNCTION static int nearest(int q) {
    int const qd = q / (Facts::template out_extent<1> * Facts::template out_extent<2>);
    int const qh = q / Facts::template out_extent<2> % Facts::template out_extent<1>;
    int const qw = q % Facts::template out_extent<2>;
    int const d = qd / (Facts::template out_extent<0> / Facts::template in_extent<0>);
    int const h = qh / (Facts::template out_extent<1> / Facts::template in_extent<1>);
    int const w = qw / (Facts::template out_extent<2> / Facts::template in_extent<2>);
    return (d * Facts::template in_extent<1> + h) * Facts::template in_extent<2> + w;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
