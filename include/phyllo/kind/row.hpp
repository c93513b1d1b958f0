// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/kind/in_kernel_row.hpp>
#include <phyllo/op/row_normalization.hpp>
#include <phyllo/op/softmax.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Statistics of one position of a sample: softmax, and normalisation with the chain behind it.
template <> struct Kind<Role::row> {
  static constexpr KindFacts facts{.recomputes_chain = true, .segment = SegmentPart::row_norm};

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    if constexpr (!normalizes<L>) {
      n.rereads_result = true;
      n.ends_chain = true;
      n.flops = 4L * n.output.size();
    } else {
      int const channels = n.input.channels;
      if (L::affine) {
        n.parameter[0] = ParameterTensor::vector("weight", channels, Initial::one);
        n.parameter[0].gives_source_gradient = true;
        if (L::centered) n.parameter[1] = ParameterTensor::vector("bias", channels, Initial::zero);
        n.partial_count = 2 * channels * op::RowNormalization<op::Chain<>>::row_blocks;
      }
      n.saved[0] = {2 * n.input.positions(), ValueType::accumulate};
      n.rereads_source = true;
      n.epsilon = L::epsilon;
      n.flops = 6L * n.output.size();
    }
  }

  template <class Planned, int S>
  using Op =
      std::conditional_t<normalizes<typename Planned::template Leaf<S>>,
                         op::RowNormalization<typename Planned::template Chain<S>>, op::Softmax>;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<P> work;
    work.channels = n.input.channels;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    if constexpr (normalizes<typename Planned::template Leaf<S>>) {
      fill<S>(pass, work);
      work.epsilon = typename P::accumulate(n.epsilon);
      if constexpr (Planned::phase == Phase::training)
        work.statistics = pass.template kept<typename P::accumulate>(S, 0);
    } else {
      work.rows = long(pass.batch) * n.input.positions();
    }
    pass.template run<Op<Planned, S>>(S, work);
  }

  template <int S, class Pass> static void backward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    bool const wants = pass.template wants<S>(0);
    if (!wants && n.parameter_count() == 0) return;
    typename Op<Planned, S>::template Backward<P> work;
    work.channels = n.input.channels;
    work.d_y = pass.gradient(Planned::result(S));
    if (wants) work.d_x = pass.gradient(n.source[0]);
    if constexpr (normalizes<typename Planned::template Leaf<S>>) {
      fill<S>(pass, work);
      work.x = pass.value(n.source[0]);
      work.statistics = pass.template kept<typename P::accumulate>(S, 0);
      work.accumulate_gradient = Planned::liveness.accumulates(S, 0);
      work.partial = pass.arenas.partial;
      work.d_scale = pass.parameter_gradient(n.parameter[0]);
      work.d_shift = pass.parameter_gradient(n.parameter[1]);
    } else {
      work.rows = long(pass.batch) * n.input.positions();
      work.y = pass.value(Planned::result(S));
      work.accumulate = Planned::liveness.accumulates(S, 0);
    }
    pass.template run<Op<Planned, S>>(S, work);
  }

  /// One item is a position.
  template <class Facts, int> static constexpr int items = Facts::out_positions;
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int row) {
    if constexpr (normalizes<typename Step::Leaf>)
      detail::InKernelRow<Step>::normalize(step, row);
    else
      detail::InKernelRow<Step>::softmax(step, row);
  }
  template <class Step> static void in_cells(Step const& step) {
    if constexpr (normalizes<typename Step::Leaf>)
      detail::CellRow<Step>::normalize(step);
    else
      detail::CellRow<Step>::softmax(step);
  }

 private:
  // What both passes of a normalisation state.
  template <int S, class Pass, class Work> static void fill(Pass const& pass, Work& work) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    work.batch = pass.batch;
    work.positions = n.input.positions();
    work.centered = Planned::template Leaf<S>::centered;
    work.scale = pass.parameter(n.parameter[0]);
    work.shift = pass.parameter(n.parameter[1]);
    work.random = pass.template randomness<S>();
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
