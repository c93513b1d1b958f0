// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/plan.hpp>
#include <phyllo/op/segment.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

/// The layers of a segment: order[first[l]] with the pointwise ones behind it, up to first[l + 1].
/// Value l is the input of layer l; the last one is the segment's result.
struct SegmentLayers {
  static constexpr int most = op::Segment<>::max_length;

  int size = 0;
  int first[most + 1] = {};
  SegmentRole role[most] = {};  // as the planner took it
  int earlier[most] = {};       // of a sum: the value that it adds to the one before; else -1
};

template <int N>
constexpr SegmentLayers segment_layers(Nodes<N> const& p, Plan<N> const& plan, Step const& s) {
  SegmentLayers layers{};
  // The value of the segment that node v computes; -1: none does.
  auto const value_of = [&](int v) {
    for (int l = layers.size; l > 0; --l)
      if (plan.order[layers.first[l] - 1] == v) return l;
    return p.node[plan.head(s)].source[0] == v ? 0 : -1;
  };
  int const end = s.first + s.count;
  for (int k = s.first; k < end; ++k) {
    if (plan.role[k] == SegmentRole::none) continue;
    int const l = layers.size;
    layers.first[l] = k;
    layers.role[l] = plan.role[k];
    layers.earlier[l] = -1;
    if (plan.role[k] == SegmentRole::sum) {
      Node const& n = p.node[plan.order[k]];
      int const a = value_of(n.source[0]), b = value_of(n.source[1]);
      layers.earlier[l] = a == l ? b : a;
    }
    ++layers.size;
  }
  layers.first[layers.size] = end;
  return layers;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
