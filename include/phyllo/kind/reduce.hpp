// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/reduction.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Inside a kernel: what a reduction makes of the numbers of a window, one after the other.
template <op::ReductionKind Kind, class T> struct InKernelReduction {
  T value = T(0);
  int count = 0;

  PHYLLO_FUNCTION void add(T v) {
    if constexpr (op::is_maximum(Kind)) {
      if (count == 0 || v > value || v != v) value = v;  // not-a-numbers pass
    } else {
      value += v;
    }
    ++count;
  }
  PHYLLO_FUNCTION T result() const {
    return Kind == op::ReductionKind::mean ? value / T(count) : value;
  }
};

}  // namespace detail

/// Sum, mean or maximum over axes or over windows that divide them.
///
/// state    the layer's `kind`
template <> struct Kind<Role::reduce> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.flops = n.input.size();
    if (!op::is_maximum(L::kind)) return;
    n.saved[0] = {n.output.size(), ValueType::integer};
    n.rereads_source = n.rereads_result = L::kind == op::ReductionKind::maximum;
  }

  template <class Planned, int S> using Op = op::Reduction<Planned::template Leaf<S>::kind>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.windows = {n.input, n.output};
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    if constexpr (Planned::phase == Phase::training && n.saved[0].elements > 0)
      work.chosen = pass.template kept<std::int32_t>(S, 0);
    pass.template run<Op<Planned, S>>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    typename Op<Planned, S>::template Backward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.windows = {n.input, n.output};
    if constexpr (n.rereads_source) {
      work.x = pass.value(n.source[0]);
      work.y = pass.value(Planned::result(S));
    }
    if constexpr (n.saved[0].elements > 0) work.chosen = pass.template kept<std::int32_t>(S, 0);
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    constexpr op::ReductionWindows windows{Step::Facts::head.input, Step::Facts::head.output};
    constexpr Shape input = windows.input;
    auto const* const x = step.template source<0>();
    op::ReductionBox const box = windows.window(i / Step::O);
    detail::InKernelReduction<Step::Leaf::kind, T> all;
    for (int d = box.first[0]; d < box.last[0]; ++d)
      for (int h = box.first[1]; h < box.last[1]; ++h)
        for (int w = box.first[2]; w < box.last[2]; ++w) {
          int const p = op::ReductionWindows::position(input, d, h, w);
          for (int c = 0; c < windows.channels(); ++c) all.add(T(x[p * Step::C + i % Step::O + c]));
        }
    step.write(i, all.result());
  }
  /// On one position: all channels, or each by itself.
  template <class Step> static void in_cells(Step const& step) {
    using T = typename Step::T;
    constexpr int N = Step::cells, joined = Step::C / Step::O;
    for (int o = 0; o < Step::O; ++o)
      for (int i = 0; i < N; ++i) {
        detail::InKernelReduction<Step::Leaf::kind, T> all;
        for (int c = 0; c < joined; ++c) all.add(step.template source<0>()[(o + c) * N + i]);
        step.result()[o * N + i] = all.result();
      }
    step.finish(0, Step::O);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
