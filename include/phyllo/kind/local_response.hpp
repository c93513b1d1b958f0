// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/local_response.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Division by a power of the mean square of the channels around each one.
///
/// state    the layer's `size`, `alpha`, `beta` and `k`
template <> struct Kind<Role::local_response> {
  static constexpr KindFacts facts{.rereads_sources = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.flops = (2L * L::size + 4) * n.output.size();
  }

  template <class, int> using Op = op::LocalResponse;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    op::LocalResponse::Forward<typename Pass::precision> work;
    fill<S>(pass, work);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::LocalResponse>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    if (!pass.template wants<S>(0)) return;
    op::LocalResponse::Backward<typename Pass::precision> work;
    fill<S>(pass, work);
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(Planned::head(S).source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<op::LocalResponse>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    auto const window = window_of<typename Step::Leaf, T>(Step::O);
    int const c = i % Step::O;
    auto const* const x = step.template source<0>() + (i - c);
    step.write(i, T(x[c]) * window.factor(window.base(x, c)));
  }
  template <class Step> static void in_cells(Step const& step) {
    using T = typename Step::T;
    constexpr int N = Step::cells;
    auto const window = window_of<typename Step::Leaf, T>(Step::O);
    T const* const x = step.template source<0>();
    for (int c = 0; c < Step::O; ++c)
      for (int v = 0; v < N; ++v) {
        T sum = 0;
        for (int i = window.begin(c); i < window.end(c); ++i) sum += x[i * N + v] * x[i * N + v];
        step.result()[c * N + v] = x[c * N + v] * window.factor(window.k + window.share * sum);
      }
    step.finish(0, Step::O);
  }

 private:
  template <class L, class A>
  PHYLLO_FUNCTION static constexpr op::ResponseWindow<A> window_of(int channels) {
    return {channels, L::size, A(L::alpha / L::size), A(L::beta), A(L::k)};
  }
  template <int S, class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    work.rows = long(pass.batch) * n.input.positions();
    work.window =
        window_of<typename Planned::template Leaf<S>, typename Pass::precision::accumulate>(
            n.input.channels);
    work.x = pass.value(n.source[0]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
