// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/elementary.hpp>
#include <phyllo/kind/facts.hpp>
#include <phyllo/op/softmax.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Softmax over the channels of one position.
template <> struct Kind<Role::softmax> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.rereads_result = true;
    n.ends_chain = true;
    n.flops = 4L * n.output.size();
  }

  template <class, int> using Op = op::Softmax;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Softmax::Forward<typename Pass::precision> work;
    work.rows = long(pass.batch) * n.input.positions();
    work.channels = n.input.channels;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Softmax>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    op::Softmax::Backward<typename Pass::precision> work;
    work.rows = long(pass.batch) * n.input.positions();
    work.channels = n.input.channels;
    work.y = pass.value(Planned::result(S));
    work.d_y = pass.gradient(Planned::result(S));
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<op::Softmax>(S, work);
  }

  /// One item is a position.
  template <class Facts, int Lanes> static constexpr int items = Facts::out_positions;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int row) {
    using T = typename Step::T;
    constexpr int C = Step::C;
    auto const* const x = step.template source<0>() + row * C;
    T largest = T(x[0]);
    for (int c = 1; c < C; ++c) largest = T(x[c]) > largest ? T(x[c]) : largest;
    T sum = T(0);
    for (int c = 0; c < C; ++c) sum += decay(T(x[c]) - largest);
    T const share = T(1) / sum;
    for (int c = 0; c < C; ++c) step.write_raw(row * C + c, decay(T(x[c]) - largest) * share);
  }
  template <class Step> static void in_cells(Step const& step) {
    using T = typename Step::T;
    constexpr int C = Step::C, N = Step::cells;
    for (int i = 0; i < N; ++i) {
      T const* const x = step.template source<0>() + i;
      T* const y = step.result() + i;
      T largest = x[0], sum = T(0);
      for (int c = 1; c < C; ++c) largest = x[c * N] > largest ? x[c * N] : largest;
      for (int c = 0; c < C; ++c) sum += decay(x[c * N] - largest);
      T const share = T(1) / sum;
      for (int c = 0; c < C; ++c)
        y[c * N] = T(typename Step::storage(decay(x[c * N] - largest) * share));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
