// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/fourier.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class L> constexpr FourierAxis fourier_axis(Node const& n) {
  Shape const space = L::to_space ? n.output : n.input, spectrum = L::to_space ? n.input : n.output;
  constexpr int d = L::dimension;
  FourierAxis axis;
  for (int i = 0; i < d; ++i) axis.before *= space.spatial[i];
  for (int i = d + 1; i < 3; ++i) axis.after *= space.spatial[i];
  axis.channels = spectrum.channels / 2;
  axis.length = space.spatial[d];
  axis.modes = spectrum.spatial[d];
  axis.both_signs = !L::is_real;
  axis.is_real = L::is_real;
  axis.is_inverse = L::to_space;
  return axis;
}

// A constant of its own: nvcc warns of constexpr calls in device code.
template <class Step> struct InKernelFourier {
  static constexpr FourierAxis axis = fourier_axis<typename Step::Leaf>(Step::Facts::head);
};

}  // namespace detail

/// Some frequencies of a discrete Fourier transform along one axis, or back to space. An inverse
/// is appended with a second source, which gives the length of its axis and is not read.
///
/// state    the layer's `to_space`, `dimension` and `axis(in_space, channels)`
template <> struct Kind<Role::fourier> {
  static constexpr KindFacts facts{};

  template <class L> static constexpr bool join(Node& n, Shape const (&sources)[4]) {
    if constexpr (L::to_space) n.output.spatial[L::dimension] = sources[1].spatial[L::dimension];
    return true;
  }
  template <class L> static constexpr void describe(Node& n, Shape const*) {
    FourierAxis const axis = detail::fourier_axis<L>(n);
    n.sources = 1;
    n.flops = (axis.is_real ? 4L : 8L) * axis.channels * axis.length * axis.modes * axis.before *
              axis.after;
  }

  template <class, int> using Op = op::Fourier;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr bool to_space = Planned::template Leaf<S>::to_space;
    transform<S>(pass, to_space, pass.value(Planned::head(S).source[0]),
                 pass.value(Planned::result(S)), false);
  }
  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    constexpr bool to_space = Planned::template Leaf<S>::to_space;
    if (!pass.template wants<S>(0)) return;
    transform<S>(pass, !to_space, pass.template result_gradient<S>(),
                 pass.gradient(Planned::head(S).source[0]), Planned::liveness.accumulates(S, 0));
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using T = typename Step::T;
    using L = typename Step::Leaf;
    constexpr FourierAxis axis = detail::InKernelFourier<Step>::axis;
    constexpr int from = L::to_space ? axis.modes : axis.length;
    constexpr int to = L::to_space ? axis.length : axis.modes;
    constexpr bool is_complex = L::to_space || !axis.is_real;
    int const p = i / Step::O, after = p % axis.after, o = p / axis.after % to;
    int const before = p / axis.after / to, c = i % Step::O % axis.channels;
    bool const is_real_part = i % Step::O < axis.channels;
    auto const* x = step.template source<0>() + (before * from * axis.after + after) * Step::C + c;
    FourierAngles angles(L::to_space ? o : axis.frequency(o), axis.length);
    T sum = 0;
    for (int k = 0; k < from; ++k, angles.next(), x += axis.after * Step::C) {
      if (L::to_space && axis.both_signs && 2 * k == axis.modes)
        angles = FourierAngles(o, axis.length, axis.frequency(k));
      double const weight = L::to_space ? axis.weight(k) : 1;
      T const cosine = T(weight * angles.cosine);
      T const sine = T(weight * (L::to_space ? angles.sine : -angles.sine));
      T const real = T(x[0]), imaginary = is_complex ? T(x[is_complex ? axis.channels : 0]) : T(0);
      sum += is_real_part ? cosine * real - sine * imaginary : sine * real + cosine * imaginary;
    }
    step.write(i, sum);
  }

 private:
  template <int S, class Pass, class Storage>
  static void transform(Pass const& pass, bool to_space, Storage const* x, Storage* y,
                        bool accumulate) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    op::Fourier::Transform<typename Pass::precision> work;
    work.batch = pass.batch;
    work.axis = detail::fourier_axis<typename Planned::template Leaf<S>>(n);
    work.to_space = to_space;
    work.x = x;
    work.y = y;
    work.accumulate = accumulate;
    work.memory = pass.arenas.memory;
    pass.template run<op::Fourier>(S, work);
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
