// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/copy.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Channels of several values side by side.
template <> struct Kind<Role::concatenation> {
  static constexpr KindFacts facts{.joins_values = true, .is_cheap = true};

  template <class> static constexpr bool join(Node& n, Shape const* sources) {
    int channels = 0;
    for (int s = 0; s < n.sources; ++s) {
      if (!(sources[s].with_channels(0) == n.input.with_channels(0))) return false;
      channels += sources[s].channels;
    }
    n.output = n.input.with_channels(channels);
    return n.sources >= 2;
  }
  template <class L> static constexpr void describe(Node&, Shape const*) {}

  template <class, int> using Op = op::Copy;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Copy::Forward<typename Pass::precision> work;
    work.rows = long(pass.batch) * n.output.positions();
    work.y_channels = n.output.channels;
    work.y = pass.value(Planned::result(S));
    for (int i = 0; i < n.sources; ++i) {
      work.channels = work.x_channels = n.source_shape[i].channels;
      work.x = pass.value(n.source[i]);
      pass.template run<op::Copy>(S, work);
      work.to += work.channels;
    }
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    int from = 0;
    for (int i = 0; i < n.sources; ++i) {
      int const channels = n.source_shape[i].channels;
      pass.template copy_gradient<S>(i, pass.template result_gradient<S>(), from, channels,
                                     n.output.channels);
      from += channels;
    }
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    step.write(i, element<0>(step, i / Step::O, i % Step::O));
  }
  template <class Step> static void in_cells(Step const& step) {
    for (int c = 0; c < Step::O; ++c) step.copy(row<0>(step, c), c);
    step.finish(0, Step::O);
  }

 private:
  template <int I, class Step>
  PHYLLO_FUNCTION static typename Step::T element(Step const& step, int q, int c) {
    constexpr int channels = Step::Facts::template source_channels<I>;
    if constexpr (I + 1 < Step::Facts::sources)
      if (c >= channels) return element<I + 1>(step, q, c - channels);
    return typename Step::T(step.template source<I>()[q * channels + c]);
  }
  template <int I, class Step> static auto const* row(Step const& step, int c) {
    constexpr int channels = Step::Facts::template source_channels<I>;
    if constexpr (I + 1 < Step::Facts::sources)
      if (c >= channels) return row<I + 1>(step, c - channels);
    return step.template source<I>() + c * Step::cells;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
