// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/facts.hpp>
#include <phyllo/kind/in_kernel_row.hpp>
#include <phyllo/op/group_normalization.hpp>
#include <phyllo/op/row_normalization.hpp>
#include <phyllo/op/softmax.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

template <class L>
inline constexpr bool is_channel_softmax =
    softmax_axis<L>() == Axis::channels && !is_logarithmic<L>();

// The op of a layer with the chain behind it.
template <class L, class Chain> constexpr auto row_op() {
  if constexpr (normalizes_groups<L>)
    return std::type_identity<op::GroupNormalization<Chain>>{};
  else if constexpr (normalizes<L>)
    return std::type_identity<op::RowNormalization<Chain>>{};
  else if constexpr (is_channel_softmax<L>)
    return std::type_identity<op::Softmax>{};
  else
    return std::type_identity<op::AxisSoftmax<is_logarithmic<L>()>>{};
}

}  // namespace detail

/// Statistics of one position of a sample, or of a group of its channels: softmax, and
/// normalisation with the chain behind it.
template <> struct Kind<Role::row> {
  static constexpr KindFacts facts{
      .recomputes_chain = true, .is_cheap = true, .segment = SegmentPart::row_norm};
  template <class L> static constexpr bool is_normalization = normalizes<L> || normalizes_groups<L>;

  template <class L> static constexpr void describe(Node& n, Shape const*) {
    if constexpr (!is_normalization<L>) {
      n.rereads_result = true;
      n.ends_chain = n.ends_segment = true;
      if constexpr (detail::is_channel_softmax<L>) n.part = AttentionPart::weights;
      n.flops = 4L * n.output.size();
    } else {
      int const channels = n.input.channels;
      bool has_bias = true;
      if constexpr (normalizes_groups<L>) {
        n.ends_segment = true;
        n.saved[0] = {2 * L::groups_of(n.input), ValueType::accumulate};
        n.partial_count = 2 * channels * op::GroupNormalization<op::Chain<>>::sample_blocks;
      } else {
        has_bias = L::centered;
        if constexpr (requires { L::has_bias; }) has_bias = L::has_bias;
        n.saved[0] = {2 * n.input.positions(), ValueType::accumulate};
        n.partial_count = 2 * channels * op::RowNormalization<op::Chain<>>::row_blocks;
      }
      if (L::affine) {
        n.parameter[0] = ParameterTensor::vector("weight", channels, Initial::one);
        n.parameter[0].gives_source_gradient = true;
        if (has_bias) n.parameter[1] = ParameterTensor::vector("bias", channels, Initial::zero);
      } else {
        n.partial_count = 0;
      }
      n.rereads_source = true;
      n.epsilon = L::epsilon;
      n.flops = 6L * n.output.size();
    }
  }

  template <class Planned, int S>
  using Op = typename decltype(detail::row_op<typename Planned::template Leaf<S>,
                                              typename Planned::template Chain<S>>())::type;

  template <int S, class Pass> static void forward(Pass const& pass) {
    using Planned = typename Pass::plan;
    using P = typename Pass::precision;
    constexpr Node n = Planned::head(S);
    typename Op<Planned, S>::template Forward<P> work;
    work.x = pass.value(n.source[0]);
    work.y = pass.value(Planned::result(S));
    if constexpr (is_normalization<typename Planned::template Leaf<S>>) {
      fill<S>(pass, work);
      work.epsilon = typename P::accumulate(n.epsilon);
      if constexpr (Planned::phase == Phase::training)
        work.statistics = pass.template kept<typename P::accumulate>(S, 0);
    } else {
      set_extents<S>(pass, work);
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
    work.d_y = pass.template result_gradient<S>();
    if (wants) work.d_x = pass.gradient(n.source[0]);
    if constexpr (is_normalization<typename Planned::template Leaf<S>>) {
      fill<S>(pass, work);
      work.x = pass.value(n.source[0]);
      work.statistics = pass.template kept<typename P::accumulate>(S, 0);
      work.accumulate_gradient = Planned::liveness.accumulates(S, 0);
      work.partial = pass.arenas.partial;
      work.d_scale = pass.parameter_gradient(n.parameter[0]);
      work.d_shift = pass.parameter_gradient(n.parameter[1]);
    } else {
      set_extents<S>(pass, work);
      work.y = pass.value(Planned::result(S));
      work.accumulate = Planned::liveness.accumulates(S, 0);
    }
    pass.template run<Op<Planned, S>>(S, work);
  }

  /// One item is a position, or a group.
  template <class Facts, int>
  static constexpr int items = detail::row_items<typename Facts::Leaf>(Facts::head);
  template <class Step> PHYLLO_FUNCTION static void in_kernel(Step const& step, int row) {
    if constexpr (is_normalization<typename Step::Leaf>)
      detail::InKernelRow<Step>::normalize(step, row);
    else
      detail::InKernelRow<Step>::softmax(step, row);
  }
  template <class Step> static void in_cells(Step const& step) {
    if constexpr (is_normalization<typename Step::Leaf>)
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
    work.channels = n.input.channels;
    if constexpr (normalizes<typename Planned::template Leaf<S>>)
      work.centered = Planned::template Leaf<S>::centered;
    else
      work.groups = Planned::template Leaf<S>::groups_of(n.input);
    work.scale = pass.parameter(n.parameter[0]);
    work.shift = pass.parameter(n.parameter[1]);
    work.random = pass.template randomness<S>();
  }
  // What both passes of a softmax state.
  template <int S, class Pass, class Work> static void set_extents(Pass const& pass, Work& work) {
    using Planned = typename Pass::plan;
    constexpr Node n = Planned::head(S);
    using L = typename Planned::template Leaf<S>;
    if constexpr (detail::is_channel_softmax<L>) {
      work.rows = long(pass.batch) * n.input.positions();
      work.channels = n.input.channels;
    } else {
      constexpr Axis axis = detail::softmax_axis<L>();
      work.extent = detail::extent(n.input, axis);
      work.inner = detail::stride(n.input, axis);
      work.outer = long(pass.batch) * (n.input.size() / (work.extent * work.inner));
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
