// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/cell_contraction.hpp>
#include <phyllo/kind/facts.hpp>
#include <phyllo/kind/in_kernel_contraction.hpp>
#include <phyllo/op/contraction.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Linear and convolution: weights times a window, plus bias.
template <> struct Kind<Role::contraction> {
  static constexpr KindFacts facts{.reads_unflattened = true,
                                   .saves_chain_input = true,
                                   .rereads_sources = true,
                                   .segment = SegmentPart::product};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    n.window = L::window;
    int const channels = n.input.channels, outputs = n.output.channels;
    if (detail::exceeds_int(n.window.size[0], n.window.size[1], n.window.size[2], channels,
                            outputs)) {
      n.ok = false;
      n.oversized = true;
      return;
    }
    describe_weight(n);
    if (L::has_bias) n.parameter[1] = ParameterTensor::vector("bias", outputs, Initial::zero);
    if constexpr (requires { requires L::per_position; }) n.parameter[0].file_rank = 2;
    if constexpr (requires { L::file_parts; }) share_file<L>(n);
    long const products = 2L * n.parameter[0].count * n.output.positions();
    n.flops = products + L::has_bias * n.output.size();
    n.parameter_gradient_flops = n.source_gradient_flops = n.flops;
  }
  /// Reads the value in front of a Flatten, of shape `s`: its window is the whole value.
  static constexpr void read_unflattened(Node& n, Shape const& s) {
    ParameterTensor const before = n.parameter[0];
    n.input = s;
    for (int d = 0; d < 3; ++d) n.window.size[d] = s.spatial[d];
    describe_weight(n);
    if (before.initial == Initial::scheme) return;
    n.parameter[0].name = before.name;
    n.parameter[0].initial = before.initial;
    n.parameter[0].fan_in = before.fan_in;
  }

  template <class Planned, int S> using Op = op::Contraction<typename Planned::template Chain<S>>;
  /// The epilogue is no business of the gradients.
  template <class, int> using BackwardOp = op::Contraction<op::Chain<>>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<P> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.window = n.window;
    work.x = pass.value(n.source[0]);
    work.weight = pass.parameter(n.parameter[0]);
    work.bias = pass.parameter(n.parameter[1]);
    if constexpr (Planned::folds(S)) {
      constexpr Node norm = Planned::node(Planned::plan.order[Planned::step(S).first + 1]);
      float* const running = pass.arenas.buffers + norm.buffer;
      work.fold = {running, running + norm.input.channels, pass.parameter(norm.parameter[0]),
                   pass.parameter(norm.parameter[1]), typename P::accumulate(norm.epsilon)};
    }
    work.y = pass.value(Planned::result(S));
    work.saved = pass.saved(S);
    work.random = pass.template randomness<S>();
    work.same_in_any_batch = Pass::shards > 0;
    work.memory = pass.arenas.memory;
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    using Linear = BackwardOp<Planned, S>;
    constexpr Node n = Planned::head(S);
    auto const* const d_z = pass.template epilogue<S>();
    typename Linear::template BackwardParameters<P> work;
    work.batch = pass.batch;
    work.input = n.input;
    work.output = n.output;
    work.window = n.window;
    work.x = pass.value(n.source[0]);
    work.d_z = d_z;
    work.d_weight = pass.parameter_gradient(n.parameter[0]);
    work.d_bias = pass.parameter_gradient(n.parameter[1]);
    work.partial = pass.arenas.partial;
    work.memory = pass.arenas.memory;
    pass.template run<Linear>(S, work);
    if (!pass.template wants<S>(0)) return;
    typename Linear::template BackwardInput<P> input;
    input.batch = pass.batch;
    input.input = n.input;
    input.output = n.output;
    input.window = n.window;
    input.d_z = d_z;
    input.weight = pass.parameter(n.parameter[0]);
    input.d_x = pass.gradient(n.source[0]);
    input.accumulate = Planned::liveness.accumulates(S, 0);
    input.memory = pass.arenas.memory;
    pass.template run<Linear>(S, input);
  }

  template <class Facts, int Lanes>
  static constexpr int items = Facts::out_positions * ((Facts::out_channels + Lanes - 1) / Lanes);
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int i) {
    detail::InKernelContraction<Step>::run(step, i);
  }
  template <class Step> static void in_cells(Step const& step) {
    detail::CellContraction<Step>::run(step);
  }

 private:
  // Files name the tensors of several layers together: one has rows of them.
  template <class L> static constexpr void share_file(Node& n) {
    int const rows = L::file_parts * n.input.channels;
    int const first = L::first_part * n.input.channels;
    n.parameter[0].name = L::weight_name;
    n.parameter[0].file[0] = rows;
    n.parameter[0].file_first = first * n.input.channels;
    n.parameter[1].name = L::bias_name;
    n.parameter[1].file[0] = rows;
    n.parameter[1].file_first = first;
  }
  static constexpr void describe_weight(Node& n) {
    ParameterTensor w;
    w.name = "weight";
    w.taps = n.window.taps();
    w.channels = n.input.channels;
    w.outputs = n.output.channels;
    w.count = w.taps * w.channels * w.outputs;
    w.initial = Initial::scheme;
    w.fan_in = w.taps * w.channels;
    // A Linear layer behind Flatten has taps as well, one for each position of its input.
    bool const linear = n.output.rank == 0;
    w.fan_out = w.outputs * (linear ? 1 : w.taps);
    w.file[0] = w.outputs;
    w.file[1] = linear ? w.fan_in : w.channels;
    w.file_rank = 2;
    if (!linear)
      for (int d = 3 - n.output.rank; d < 3; ++d) w.file[w.file_rank++] = n.window.size[d];
    w.gives_source_gradient = true;
    n.parameter[0] = w;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
