// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/unpooling.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Values of a pooled image at the places of the maxima of the image before it.
///
/// state    the layer's `window` and the shape of its pooling
template <> struct Kind<Role::unpooling> {
  static constexpr KindFacts facts{.joins_values = true};

  template <class L> static constexpr bool join(Node& n, Shape const* sources) {
    if (n.sources != 2 || !L::Pooled::accepts(sources[1])) return false;
    n.output = sources[1];
    return L::Pooled::output(sources[1]) == sources[0];
  }
  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.window = L::window;
    n.rereads_source = true;  // the image only
    n.first_reread = 1;
    n.flops = long(n.window.taps()) * n.input.size();
  }

  template <class, int> using Op = op::Unpooling;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    op::Unpooling::Forward<typename Pass::precision> work;
    fill<S>(pass, work);
    work.x = pass.value(Planned::head(S).source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Unpooling>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (pass.template wants<S>(0)) {
      op::Unpooling::Backward<typename Pass::precision> work;
      fill<S>(pass, work);
      work.d_y = pass.template result_gradient<S>();
      work.d_x = pass.gradient(n.source[0]);
      work.accumulate = Planned::liveness.accumulates(S, 0);
      pass.template run<op::Unpooling>(S, work);
    }
    // Where no layer in front has written to the gradient of the image, it becomes zero.
    if (pass.template wants<S>(1)) pass.template begin_gradient<S>(1, false);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    constexpr Node n = Step::Facts::head;
    int const p = i / Step::O, c = i % Step::O;
    int const q = op::window_over(n.window, n.output, n.input, p);
    bool const is_maximum = q >= 0 && op::first_maximum<T>(n.window, n.output, n.input,
                                                           step.template source<1>(), c, q) == p;
    step.write(i, is_maximum ? T(step.template source<0>()[q * Step::O + c]) : T(0));
  }

 private:
  template <int S, class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    work.batch = pass.batch;
    work.pooled = n.source_shape[0];
    work.image_shape = n.output;
    work.window = n.window;
    work.image = pass.value(n.source[1]);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
