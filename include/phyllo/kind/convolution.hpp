// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/op/general_convolution.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Convolutions beyond Role::contraction: dilated taps, groups, other borders, transposed.
///
/// state    the layer's `options` and `is_transposed`
template <> struct Kind<Role::convolution> {
  static constexpr KindFacts facts{.saves_chain_input = true, .rereads_sources = true};

  template <class L> static constexpr ConvolutionShape shape_of(Node const& n) {
    return L::is_transposed ? L::options.shape(n.output, n.input)
                            : L::options.shape(n.input, n.output);
  }

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.window = L::options.window;
    ConvolutionShape const s = shape_of<L>(n);
    if (detail::exceeds_int(s.taps(), s.image_channels(), s.grid.channels)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    ParameterTensor w;
    w.name = "weight";
    w.taps = s.taps();
    w.channels = s.image_channels();
    w.outputs = s.grid.channels;
    w.count = int(s.weights());
    w.initial = Initial::scheme;
    // As torch counts them, of a transposed convolution too.
    w.fan_in = w.taps * w.channels;
    w.fan_out = w.taps * w.outputs;
    w.file[0] = w.outputs;
    w.file[1] = w.channels;
    w.file_rank = 2;
    for (int d = 3 - n.output.rank; d < 3; ++d) w.file[w.file_rank++] = s.size[d];
    w.gives_source_gradient = true;
    n.parameter[0] = w;
    if (L::has_bias)
      n.parameter[1] = ParameterTensor::vector("bias", n.output.channels, Initial::zero);
    n.flops = 2L * n.parameter[0].count * s.grid.positions() + L::has_bias * n.output.size();
    n.parameter_gradient_flops = n.source_gradient_flops = n.flops;
    n.partial_count = int(op::GeneralConvolution<op::Chain<>>::work_count(s));
  }

  template <class Planned, int S>
  using Op = op::GeneralConvolution<typename Planned::template Chain<S>>;
  /// The epilogue is no business of the gradients.
  template <class, int> using BackwardOp = op::GeneralConvolution<op::Chain<>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    op::ConvolutionResult<P> result;
    result.bias = pass.parameter(n.parameter[1]);
    if constexpr (Planned::folds(S)) {
      constexpr Node norm = Planned::node(Planned::plan.order[Planned::step(S).first + 1]);
      float* const running = pass.arenas.buffers + norm.buffer;
      result.fold = {running, running + norm.input.channels, pass.parameter(norm.parameter[0]),
                     pass.parameter(norm.parameter[1]), typename P::accumulate(norm.epsilon)};
    }
    result.y = pass.value(Planned::result(S));
    result.saved = pass.saved(S);
    result.random = pass.template randomness<S>();
    run<S, Op<Planned, S>, is_transposed<Planned, S>>(pass, pass.value(n.source[0]), result);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    using Linear = BackwardOp<Planned, S>;
    constexpr Node n = Planned::head(S);
    constexpr bool transposed = is_transposed<Planned, S>;
    auto const* const d_z = pass.template epilogue<S>();
    auto const* const x = pass.value(n.source[0]);
    typename Linear::template BackwardParameters<P> work;
    work.batch = pass.batch;
    work.shape = shape_of<typename Planned::template Leaf<S>>(n);
    work.image = transposed ? d_z : x;
    work.grid = transposed ? x : d_z;
    work.d_weight = pass.parameter_gradient(n.parameter[0]);
    work.d_bias = pass.parameter_gradient(n.parameter[1]);
    work.transposed = transposed;
    work.partial = pass.arenas.partial;
    work.memory = pass.arenas.memory;
    pass.template run<Linear>(S, work);
    if (!pass.template wants<S>(0)) return;
    op::ConvolutionResult<P> result;
    result.y = pass.gradient(n.source[0]);
    result.accumulate = Planned::liveness.accumulates(S, 0);
    run<S, Linear, !transposed>(pass, d_z, result);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * Facts::out_channels;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    using Leaf = typename Step::Leaf;
    using T = typename Step::T;
    constexpr ConvolutionShape s = shape_of<Leaf>(Step::Facts::head);
    int const c = i % Step::O;
    T sum = Step::Facts::bias < 0 ? T(0) : T(step.parameters[Step::Facts::bias + c]);
    InKernelSum<Step, s.image_channels(), s.grid_channels(), s.image.channels, s.grid.channels> add{
        step.template source<0>(), step.parameters + Step::Facts::weight, c, &sum};
    if constexpr (Leaf::is_transposed)
      s.for_each_window(i / Step::O, add);
    else
      s.for_each_tap(i / Step::O, add);
    if constexpr (Step::Facts::folds) sum = step.normalized(sum, c);
    step.write(i, sum);
  }
  /// Windows of one tap on one position: groups of channels.
  template <class Step> static void in_cells(Step const& step) {
    using T = typename Step::T;
    constexpr ConvolutionShape s = shape_of<typename Step::Leaf>(Step::Facts::head);
    constexpr bool transposed = Step::Leaf::is_transposed;
    constexpr int inputs = transposed ? s.grid_channels() : s.image_channels();
    constexpr int outputs = transposed ? s.image_channels() : s.grid_channels();
    for (int o = 0; o < Step::O; ++o) {
      T* const y = step.result() + o * Step::cells;
      for (int v = 0; v < Step::cells; ++v)
        y[v] = Step::Facts::bias < 0 ? T(0) : T(step.parameters[Step::Facts::bias + o]);
      for (int c = 0; c < inputs; ++c) {
        int const from = o / outputs * inputs + c;
        int const weight =
            transposed ? o % outputs * s.grid.channels + from : c * s.grid.channels + o;
        T const w = T(step.parameters[Step::Facts::weight + weight]);
        T const* const x = step.template source<0>() + from * Step::cells;
        for (int v = 0; v < Step::cells; ++v) y[v] += x[v] * w;
      }
      if constexpr (Step::Facts::folds) step.normalize(y, o);
    }
    step.finish(0, Step::O);
  }

 private:
  template <class Planned, int S>
  static constexpr bool is_transposed = Planned::template Leaf<S>::is_transposed;

  // From the image to the grid, or back.
  template <int S, class Op, bool ToImage, class Pass, class Number, class Result>
  static void run(Pass const& pass, Number const* x, Result const& result) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    std::conditional_t<ToImage, typename Op::template Spread<P>, typename Op::template Gather<P>>
        work;
    work.batch = pass.batch;
    work.shape = shape_of<typename Planned::template Leaf<S>>(n);
    work.x = x;
    work.weight = pass.parameter(n.parameter[0]);
    work.result = result;
    work.memory = pass.arenas.memory;
    pass.template run<Op>(S, work);
  }

  // The sum of channel c of one position, over its windows or its taps.
  template <class Step, int Channels, int Outputs, int ImagePitch, int GridPitch>
  struct InKernelSum {
    using T = typename Step::T;
    typename Step::Number const* x;
    typename Step::storage const* weight;
    int c;
    T* sum;

    PHYLLO_FUNCTION void operator()(int first, int second) const {
      if constexpr (Step::Leaf::is_transposed) {  // of window `first`, tap `second`
        for (int o = c / Channels * Outputs; o < (c / Channels + 1) * Outputs; ++o)
          *sum += T(x[first * GridPitch + o]) *
                  T(weight[(second * Channels + c % Channels) * GridPitch + o]);
      } else {  // of tap `first`, position `second`
        for (int i = 0; i < Channels; ++i)
          *sum += T(x[second * ImagePitch + c / Outputs * Channels + i]) *
                  T(weight[(first * Channels + i) * GridPitch + c]);
      }
    }
  };
};

}  // namespace phyllo::inline PHYLLO_ISA
