// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/rules.hpp>
#include <phyllo/kind/kinds.hpp>
#include <phyllo/network/nodes.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// What kept a step from taking in the one behind it.
enum class EndReason : unsigned char {
  none,           // the network ends there, or nothing is fused with it
  level,          // the FusionLevel of the execution
  chain_read,     // a pointwise layer follows, and the value before it has another reader
  read_outside,   // a value inside has a reader outside
  other_input,    // the next layer reads another value
  recompute,      // a Recompute ends or begins behind a batch normalisation and its layers
  outside_value,  // a sum with a value from outside
  not_a_layer,    // node `found` is no layer of a segment in this place
  sums,           // the backend has no sums in its segments
  windows,        // nor convolutions and poolings
  normalizations,
  batch_statistics,  // they are known when all of the batch has passed
  row_norms,
  // `found` of something, and the backend takes `most`, or `least` as many:
  channels,
  features,  // inputs of the first Linear layer behind images
  layers,
  parameters,
  values,   // numbers of a sample, with images
  scratch,  // bytes
  few_layers,
  no_rows,  // images without a Linear layer behind them
};
struct FusionEnd {
  EndReason reason = EndReason::none;
  int found = 0;
  int most = 0;
};

/// One launch, or a few that belong together: `count` entries of the plan's order from `first` on.
struct Step {
  StepKind kind = StepKind::single;
  int first = 0;  // index into Plan::order
  int count = 0;
  int rule = -1;  // index into rules; -1: none
  FusionEnd end = {};
};

/// What a layer of a segment is: decided once, by the planner, for what is lowered from the plan.
enum class SegmentRole : unsigned char {
  none,         // not in a segment, or part of the pointwise chain of the layer before
  dense,        // contraction that reads its whole input: a Linear layer on rows of numbers
  convolution,  // any other contraction
  pooling,
  sum,
  normalization,
  row_norm,
  batch_normalization,  // of training, the first layer
};

/// The nodes of a program that do work, in order, and the steps that they are fused into.
template <int N> struct Plan {
  int order[N] = {};
  int nodes = 0;
  Step step[N] = {};
  int size = 0;
  SegmentRole role[N] = {};  // of order[k]

  constexpr int head(Step const& s) const { return order[s.first]; }
  constexpr int tail(Step const& s) const { return order[s.first + s.count - 1]; }
};

namespace detail {

// How often node i is read, the outputs of the network included.
template <int N> constexpr int readers(Nodes<N> const& p, int i) {
  int count = 0;
  for (int j = 0; j < p.size; ++j)
    for (int s = 0; s < p.node[j].sources; ++s)
      count += !p.node[j].alias && p.node[j].source[s] == i;
  for (int o = 0; o < p.outputs; ++o) count += p.output[o] == i;
  return count;
}

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
