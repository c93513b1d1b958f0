// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/transpose.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The same numbers under other extents; where it is work, channels first to rows of numbers.
template <> struct Kind<Role::reshape> {
  static constexpr KindFacts facts{.reshapes = true};

  template <class L> static constexpr void describe(Node&, Shape const*) {}

  template <class, int> using Op = op::Transpose;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Transpose::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.rows = n.input.positions();
    work.columns = n.input.channels;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Transpose>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    op::Transpose::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.rows = n.input.channels;
    work.columns = n.input.positions();
    work.x = pass.gradient(Planned::result(S));
    work.y = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<op::Transpose>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  /// (S, C) -> (C, S)
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    constexpr int positions = Step::Facts::in_positions;
    step.write(
        i, typename Step::T(step.template source<0>()[i % positions * Step::C + i / positions]));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
