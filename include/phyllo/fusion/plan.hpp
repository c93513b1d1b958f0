// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/segment_run.hpp>
#include <phyllo/network/program.hpp>
#include <phyllo/op/segment_limits.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// Whether order[k] has one reader, or any number of them, and order[k + 1] is one that reads
// nothing else, or adds one other value, under the extents that it is stored with. Within an
// attention, products read other values as well, and layers join a softmax.
template <int N>
constexpr bool chained(Nodes<N> const& p, Plan<N> const& plan, int k, bool any_readers,
                       bool attends) {
  if (k + 1 >= plan.nodes) return false;
  int const i = plan.order[k];
  if (p.node[i].ends_chain && !attends) return false;
  Node const& next = p.node[plan.order[k + 1]];
  bool const sum = facts_of(next).adds;
  return (sum || attends || next.sources == 1) &&
         (next.source[0] == i || (sum && next.source[1] == i)) && p.reads_as_stored(next) &&
         (any_readers || readers(p, i) == 1);
}

// Number of nodes from order[k] on that the rule takes; 0: it does not match.
template <int N>
constexpr int match(Rule const& rule, Nodes<N> const& p, Plan<N> const& plan, int k,
                    bool any_readers = false) {
  int at = k;
  for (int t = 0; t < rule.length; ++t) {
    Term const& term = rule.pattern[t];
    bool const attends = term.part != AttentionPart::none;
    int found = 0;
    while (at < plan.nodes && p.node[plan.order[at]].role == term.role &&
           (!attends || p.node[plan.order[at]].part == term.part) &&
           (at == k || chained(p, plan, at - 1, any_readers, attends))) {
      ++at;
      ++found;
      if (!term.many) break;
    }
    if (found == 0 && !term.many) return 0;
  }
  return at - k;
}

// Whether a rule would make a longer step of it, were its values read by the next layer alone.
template <int N>
constexpr bool is_cut_by_readers(Nodes<N> const& p, Plan<N> const& plan, Step const& s,
                                 Phase phase) {
  for (Rule const& rule : rules)
    if ((int(rule.when) & int(phase)) && match(rule, p, plan, s.first, true) > s.count) return true;
  return false;
}

}  // namespace detail

/// The plan of an array of nodes: rules first, then segments over the steps that the rules made,
/// within the limits of the backend that runs them.
template <int N>
constexpr Plan<N> make_plan(Nodes<N> const& p, Phase phase, FusionLevel fusion,
                            SegmentLimits const& limits = UsualLimits::value) {
  Plan<N> fine{};
  for (int i = 0; i < p.size; ++i)
    if (!is_given(p.node[i]) && !p.node[i].alias) fine.order[fine.nodes++] = i;
  for (int k = 0; k < fine.nodes;) {
    Step s{StepKind::single, k, 1, -1};
    if (fusion != FusionLevel::none) {
      int r = 0;
      for (Rule const& rule : rules) {
        int const count = (int(rule.when) & int(phase)) ? detail::match(rule, p, fine, k) : 0;
        if (count > 1) {
          s = {rule.becomes, k, count, r};
          break;
        }
        ++r;
      }
      if (detail::is_cut_by_readers(p, fine, s, phase)) s.end = {EndReason::chain_read};
    }
    fine.step[fine.size++] = s;
    k += s.count;
  }
  bool const has_segments = limits.widest > 0 && (phase == Phase::inference || limits.trains);
  if (fusion < FusionLevel::segment || !has_segments) return fine;
  SegmentLimits within = limits;
  within.normalizations = limits.normalizations && phase == Phase::inference;
  within.batch_normalizations = limits.batch_normalizations && phase == Phase::training;
  within.lone_layers = limits.lone_layers && phase == Phase::training;
  Plan<N> plan = fine;
  plan.size = 0;
  for (int s = 0; s < fine.size;) {
    FusionEnd end{};
    int const run = detail::longest_segment(p, fine, s, fusion, within, plan.role, end);
    Step const& last = fine.step[run == 0 ? s : s + run - 1];
    int const first = fine.step[s].first;
    if (end.reason == EndReason::normalizations && !within.normalizations && limits.normalizations)
      end.reason = EndReason::batch_statistics;
    // A chain that was cut is what the segment ends at.
    if (last.end.reason != EndReason::none) end = last.end;
    plan.step[plan.size] = fine.step[s];
    if (run > 0)
      plan.step[plan.size] = {StepKind::segment, first, last.first + last.count - first, -1};
    plan.step[plan.size++].end = end;
    s += run > 0 ? run : 1;
  }
  return plan;
}

/// Whether one segment of the training plan covers all, so that with one loss forward, loss,
/// backward and parameter gradients run in one pass.
template <int N>
constexpr bool is_whole_step(Nodes<N> const& p, FusionLevel fusion,
                             SegmentLimits const& limits = UsualLimits::value) {
  if (!limits.whole_steps) return false;
  Plan<N> const plan = make_plan(p, Phase::training, fusion, limits);
  bool has_rows = false;
  for (int k = 0; k < plan.nodes; ++k) has_rows = has_rows || plan.role[k] == SegmentRole::dense;
  return plan.size == 1 && plan.step[0].kind == StepKind::segment && has_rows && p.inputs == 1 &&
         plan.role[0] != SegmentRole::batch_normalization && p.outputs == 1 &&
         p.output[0] == plan.tail(plan.step[0]) &&
         has_same_extents(p.output_shape[0], p.node[p.output[0]].output);
}
template <class Program>
constexpr bool is_whole_step(FusionLevel fusion, SegmentLimits const& limits = UsualLimits::value) {
  return is_whole_step(Program::nodes, fusion, limits);
}

}  // namespace phyllo::inline PHYLLO_ISA
