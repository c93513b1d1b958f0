// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/memory.hpp>
#include <phyllo/fusion/segment_layers.hpp>

namespace phyllo::test {

/// How often the checked plans contained what a test of plans is about.
struct Coverage {
  long fused[9] = {};
  long layer[8] = {};  // by SegmentRole
  long whole_steps = 0, training_segments = 0, folded_in_segments = 0, most_layers = 0, widest = 0;
  long images_as_rows = 0, one_position_windows = 0, sums_of_the_input = 0, products_on_images = 0;
  long kept_statistics = 0, kept_states = 0, trunks = 0, lone_layers = 0;
  long again = 0, two_lives = 0, scans_again = 0, cheap = 0;
  long other_extents = 0, segments_of_other_extents = 0;
  long limited = 0, read_twice = 0, dead = 0, shared_outputs = 0, accumulated = 0, reused = 0;
};

/// One plan of one array of nodes, and the first thing that is wrong with it.
template <int N> struct PlanFacts {
  char const* mistake = nullptr;
  Nodes<N> const& p;
  SegmentLimits const limits;
  Plan<N> const plan;
  Liveness<N> const life;
  Memory<N> const memory;
  int element_size;
  Coverage& coverage;

  PlanFacts(Nodes<N> const& nodes, Phase phase, FusionLevel fusion, SegmentLimits const& of_backend,
            int element, Recomputation recomputation, Coverage& seen)
      : p(nodes),
        limits(of_backend),
        plan(make_plan(nodes, phase, fusion, of_backend)),
        life(nodes, plan, phase, recomputation),
        memory(make_memory(life, element, element < 4 ? 4 : element)),
        element_size(element),
        coverage(seen) {}

  void need(bool holds, char const* sentence) {
    if (!holds && mistake == nullptr) mistake = sentence;
  }
  Node const& node(int i) const { return p.node[i]; }
  bool is_output(int v) const {
    for (int o = 0; o < p.outputs; ++o)
      if (p.output[o] == v) return true;
    return false;
  }
  // Which step has node i, -1: none.
  int step_of(int i) const {
    for (int s = 0; s < plan.size; ++s)
      for (int k = plan.step[s].first; k < plan.step[s].first + plan.step[s].count; ++k)
        if (plan.order[k] == i) return s;
    return -1;
  }
};

}  // namespace phyllo::test
