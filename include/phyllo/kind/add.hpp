// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/add.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Sum of two values.
template <> struct Kind<Role::add> {
  static constexpr KindFacts facts{.joins_values = true,
                                   .adds = true,
                                   .saves_chain_input = true,
                                   .is_cheap = true,
                                   .segment = SegmentPart::sum};

  /// The output of several sources; false: their shapes differ.
  template <class> static constexpr bool join(Node& n, Shape const* sources) {
    return n.sources == 2 && sources[1] == n.input;
  }
  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.flops = n.output.size();
  }

  template <class Planned, int S> using Op = op::Add<typename Planned::template Chain<S>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.size = n.input.size();
    work.a = pass.value(n.source[0]);
    work.b = pass.value(n.source[1]);
    work.y = pass.value(Planned::result(S));
    work.saved = pass.saved(S);
    work.random = pass.template randomness<S>();
    pass.template run<Op<Planned, S>>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    auto const* const d_z = pass.template epilogue<S>();
    int const channels = Pass::plan::head(S).output.channels;
    for (int i = 0; i < 2; ++i) pass.template copy_gradient<S>(i, d_z, 0, channels, channels);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    step.write(i, T(step.template source<0>()[i]) + T(step.template source<1>()[i]));
  }
  template <class Step> static void in_cells(Step const& step) {
    constexpr int count = Step::O * Step::cells;
    auto const *const a = step.template source<0>(), *const b = step.template source<1>();
    auto* const y = step.result();
    PHYLLO_SIMD(16)
    for (int i = 0; i < count; ++i) y[i] = a[i] + b[i];
    step.finish(0, Step::O);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
