// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/pooling.hpp>

#include <Kokkos_NumericTraits.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Inside a kernel: what a pooling makes of the numbers that its window sees, channel by channel.
template <op::PoolingKind, class Step> struct InKernelPool {
  using T = typename Step::T;
  typename Step::Number const* x;
  T value = T(0);

  PHYLLO_FUNCTION void operator()(int p, int) { value += T(x[p * Step::C]); }
  PHYLLO_FUNCTION T result(int) const { return value / T(Step::Facts::taps); }
};
template <class Step> struct InKernelPool<op::PoolingKind::average_counted, Step> {
  using T = typename Step::T;
  using Facts = typename Step::Facts;
  typename Step::Number const* x;
  T value = T(0);

  PHYLLO_FUNCTION void operator()(int p, int) { value += T(x[p * Step::C]); }
  PHYLLO_FUNCTION T result(int q) const {
    constexpr Window window = Facts::head.window;
    constexpr Shape input = Facts::head.input;
    constexpr int height = Facts::template out_extent<1>, width = Facts::template out_extent<2>;
    int const at[3] = {q / width / height, q / width % height, q % width};
    return value / T(op::count_taps(window, input, at, Step::Leaf::counts_padding));
  }
};
template <class Step> struct InKernelPool<op::PoolingKind::maximum, Step> {
  using T = typename Step::T;
  typename Step::Number const* x;
  T value = -Kokkos::Experimental::infinity_v<T>;

  PHYLLO_FUNCTION void operator()(int p, int) {
    T const v = T(x[p * Step::C]);
    if (v > value || v != v) value = v;  // not-a-numbers pass
  }
  PHYLLO_FUNCTION T result(int) const { return value; }
};

}  // namespace detail

/// A window reduced without weights.
template <> struct Kind<Role::pooling> {
  static constexpr KindFacts facts{.rereads_sources = true, .segment = SegmentPart::pooling};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.window = L::window_on(n.input);
    // Kernels of segments divide by all taps and leave out nothing but padding.
    n.ends_segment =
        L::kind == op::PoolingKind::average_counted || n.window.reaches_beyond(n.input, n.output);
    n.flops = long(n.window.taps()) * n.output.size();
  }

  template <class Planned, int S> using Op = op::Pooling<Planned::template Leaf<S>::kind>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.window = n.window;
    if constexpr (Planned::template Leaf<S>::kind == op::PoolingKind::average_counted)
      work.counts_padding = Planned::template Leaf<S>::counts_padding;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<Op<Planned, S>>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    typename Op<Planned, S>::template Backward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.window = n.window;
    if constexpr (Planned::template Leaf<S>::kind == op::PoolingKind::average_counted)
      work.counts_padding = Planned::template Leaf<S>::counts_padding;
    work.x = pass.value(n.source[0]);
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    detail::InKernelPool<Step::Leaf::kind, Step> pool{step.template source<0>() + i % Step::O};
    Step::for_each_tap(i / Step::O, pool);
    step.write(i, pool.result(i / Step::O));
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
