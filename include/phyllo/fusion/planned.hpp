// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/memory.hpp>
#include <phyllo/fusion/segment_layers.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// The leaves order[First] to order[First + Count - 1], which are pointwise, as a chain.
template <class Planned, int First, class Sequence> struct ChainOfNodes;
template <class Planned, int First, std::size_t... I>
struct ChainOfNodes<Planned, First, std::index_sequence<I...>> {
  using type = op::Chain<At<typename Planned::leaves, Planned::plan.order[First + I]>...>;
};
template <class Planned, int First, int Count>
using ChainAt = typename ChainOfNodes<Planned, First, std::make_index_sequence<Count>>::type;
template <class Planned, int S>
using StepChain = ChainAt<Planned, Planned::liveness.chain_first(Planned::step(S)),
                          Planned::liveness.chain_length(Planned::step(S))>;

}  // namespace detail

/// A network with its plan, lifetimes and memory for one phase and precision: all constants.
///
/// options  ElementSize, AccumulateSize: bytes of a number of a value, and of sums · Limits: a
///          struct with `value`, the SegmentLimits of the backend that runs segments; NetworkPlan
///          has those of an execution · Again: what training computes twice
template <class Net, Phase When, FusionLevel Level, int ElementSize, class Limits = UsualLimits,
          int AccumulateSize = (ElementSize < 4 ? 4 : ElementSize),
          Recomputation Again = Recomputation::marked>
struct Planned {
  static_assert(Limits::value.most_layers <= op::Segment<>::max_length,
                "SegmentLimits: most_layers is at most op::Segment<>::max_length. State fewer.");
  using network = Net;
  using program = typename Net::program;
  using leaves = typename program::leaves;
  static constexpr Phase phase = When;
  static constexpr FusionLevel fusion = Level;
  static constexpr SegmentLimits limits = Limits::value;
  static constexpr Plan<program::size> plan = make_plan(program::nodes, When, Level, Limits::value);
  static constexpr Liveness<program::size> liveness{program::nodes, plan, When, Again};
  static constexpr Memory<program::size> memory =
      make_memory(liveness, ElementSize, AccumulateSize);

  static constexpr Step step(int s) { return plan.step[s]; }
  static constexpr Node node(int i) { return program::nodes.node[i]; }
  static constexpr Node head(int s) { return node(plan.head(plan.step[s])); }
  static constexpr int result(int s) { return plan.tail(plan.step[s]); }
  /// Whether step s folds a normalisation of inference into a contraction, and whether it adds a
  /// value behind a normalisation.
  static constexpr bool folds(int s) { return step(s).kind == StepKind::folded_contraction; }
  static constexpr bool adds(int s) { return step(s).kind == StepKind::normalization_add; }
  /// Whether step s is a segment that begins with a batch normalisation of training.
  static constexpr bool begins_with_batch_normalization(int s) {
    return step(s).kind == StepKind::segment &&
           plan.role[step(s).first] == SegmentRole::batch_normalization;
  }
  /// Whether step s is a whole attention.
  static constexpr bool attends(int s) { return step(s).kind == StepKind::attention; }
  /// The pointwise chain of step S, empty where it has none; the layer of its head.
  template <int S> using Chain = detail::StepChain<Planned, S>;
  template <int S> using Leaf = At<leaves, std::size_t(plan.head(plan.step[S]))>;
};

namespace detail {

template <class Planned, int S> constexpr SegmentLayers segment_layers() {
  return segment_layers(Planned::program::nodes, Planned::plan, Planned::step(S));
}
template <class T> struct LayerType {
  using type = T;
};
struct SegmentStatistics {
  op::RunningStatistics layer[op::Segment<>::max_length] = {};
};
template <class Planned, int S>
inline constexpr SegmentStatistics segment_statistics = [] {
  SegmentStatistics statistics{};
  SegmentLayers const layers = segment_layers<Planned, S>();
  for (int l = 0; l < layers.size; ++l) {
    Node const n = Planned::node(Planned::plan.order[layers.first[l]]);
    statistics.layer[l] = {n.buffer, n.epsilon};
  }
  return statistics;
}();
// What the planner took layer L for, with the extents that its value is stored with.
template <class Planned, int S, int L> constexpr auto segment_layer() {
  constexpr SegmentLayers layers = segment_layers<Planned, S>();
  constexpr SegmentRole role = layers.role[L];
  constexpr int first = layers.first[L];
  constexpr int leaf = Planned::plan.order[first];
  constexpr Node node = Planned::node(leaf);
  using Chain = ChainAt<Planned, first + 1, layers.first[L + 1] - first - 1>;
  static_assert(L == 0 || Planned::program::nodes.reads_as_stored(node));
  if constexpr (role == SegmentRole::dense)
    return LayerType<
        op::Dense<node.input.size(), node.output.channels, (node.parameter[1].count > 0), Chain>>{};
  else if constexpr (role == SegmentRole::convolution)
    return LayerType<
        op::Convolution<op::ImageExtents::of(node.input), op::ImageExtents::of(node.output),
                        node.window, (node.parameter[1].count > 0), Chain>>{};
  else if constexpr (role == SegmentRole::pooling)
    return LayerType<op::WindowPooling<At<typename Planned::leaves, leaf>::kind,
                                       op::ImageExtents::of(node.input),
                                       op::ImageExtents::of(node.output), node.window, Chain>>{};
  else if constexpr (role == SegmentRole::sum)
    return LayerType<op::Sum<node.output.channels, layers.earlier[L], Chain>>{};
  else if constexpr (role == SegmentRole::row_norm)
    return LayerType<
        op::RowNorm<node.output.channels, At<typename Planned::leaves, leaf>::centered,
                    (node.parameter[0].count > 0), (node.parameter[1].count > 0), Chain>>{};
  else if constexpr (role == SegmentRole::batch_normalization)
    return LayerType<op::BatchNormalization<node.output.channels, Chain>>{};
  else
    return LayerType<op::RunningNormalization<node.output.channels, Chain>>{};
}
template <class Planned, int S, class Sequence> struct SegmentOf;
template <class Planned, int S, std::size_t... L>
struct SegmentOf<Planned, S, std::index_sequence<L...>> {
  using type = op::Segment<typename decltype(segment_layer<Planned, S, int(L)>())::type...>;
};

}  // namespace detail

template <class Planned, int S> using StepChain = typename Planned::template Chain<S>;

/// Step S, a segment, as the canonical op that backends implement.
template <class Planned, int S>
using StepSegment = typename detail::SegmentOf<
    Planned, S, std::make_index_sequence<detail::segment_layers<Planned, S>().size>>::type;

}  // namespace phyllo::inline PHYLLO_ISA
