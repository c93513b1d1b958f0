// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/resample.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// A constant of its own: nvcc warns of constexpr calls in device code.
template <class Step> struct InKernelResample {
  static constexpr ResampleAxes axes = Step::Leaf::axes(Step::Facts::head.input);
};

}  // namespace detail

/// Interpolation along the spatial axes. No work where all extents stay.
///
/// state    the layer's `axes(Shape)`
template <> struct Kind<Role::resample> {
  static constexpr KindFacts facts{.is_cheap = true};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    ResampleAxes const axes = L::axes(n.input);
    n.alias = axes.is_identity();
    n.flops = 2L * axes.axis[0].taps * axes.axis[1].taps * axes.axis[2].taps * n.output.size();
  }

  template <class, int> using Op = op::Resample;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    constexpr ResampleAxes axes = Planned::template Leaf<S>::axes(n.input);
    op::Resample::Forward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.channels = n.input.channels;
    work.axes = axes;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    pass.template run<op::Resample>(S, work);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    if (!pass.template wants<S>(0)) return;
    constexpr ResampleAxes axes = Planned::template Leaf<S>::axes(n.input);
    op::Resample::Backward<typename Pass::precision> work;
    work.batch = pass.batch;
    work.channels = n.input.channels;
    work.axes = axes;
    work.d_y = pass.template result_gradient<S>();
    work.d_x = pass.gradient(n.source[0]);
    work.accumulate = Planned::liveness.accumulates(S, 0);
    pass.template run<op::Resample>(S, work);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    constexpr ResampleAxes axes = detail::InKernelResample<Step>::axes;
    constexpr ResampleAxis D = axes.axis[0], H = axes.axis[1], W = axes.axis[2];
    int const q = i / Step::O, rest = q / W.extent;
    auto const* const x = step.template source<0>() + i % Step::O;
    ResamplePoint<T> const d = D.template point<T>(rest / H.extent);
    ResamplePoint<T> const h = H.template point<T>(rest % H.extent);
    ResamplePoint<T> const w = W.template point<T>(q % W.extent);
    T sum = 0;
    for (int i_d = 0; i_d < D.taps; ++i_d)
      for (int i_h = 0; i_h < H.taps; ++i_h) {
        T const of_row = D.weight(i_d, d.fraction) * H.weight(i_h, h.fraction);
        int const row = D.clamped(d.first + i_d) * H.source_extent + H.clamped(h.first + i_h);
        for (int i_w = 0; i_w < W.taps; ++i_w) {
          int const at = row * W.source_extent + W.clamped(w.first + i_w);
          sum += of_row * W.weight(i_w, w.fraction) * T(x[at * Step::C]);
        }
      }
    step.write(i, sum);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
