// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/rules.hpp>
#include <phyllo/network/program.hpp>

namespace phyllo {

/// One launch, or a few that belong together: `count` entries of the plan's order from `first` on.
struct Step {
  Fused fused = Fused::single;
  int first = 0;  // index into Plan::order
  int count = 0;
  int rule = -1;  // index into rules; -1: none
};

/// The nodes of a program that do work, in order, and the steps that they are fused into.
template <int N> struct Plan {
  int order[N] = {};
  int nodes = 0;
  Step step[N] = {};
  int size = 0;

  constexpr int head(Step const& s) const { return order[s.first]; }
  constexpr int tail(Step const& s) const { return order[s.first + s.count - 1]; }
};

namespace detail {

template <class P> constexpr int readers(P const& p, int size, int i) {
  int count = 0;
  for (int j = 0; j < size; ++j)
    for (int s = 0; s < p.node[j].sources; ++s)
      count += !p.node[j].alias && p.node[j].source[s] == i;
  for (int o = 0; o < p.outputs; ++o) count += p.output[o] == i;
  return count;
}

// Whether order[k] has one reader, order[k + 1], which reads nothing else.
template <class P, int N> constexpr bool chained(P const& p, Plan<N> const& plan, int k) {
  if (k + 1 >= plan.nodes) return false;
  int const i = plan.order[k];
  Node const& next = p.node[plan.order[k + 1]];
  return next.sources == 1 && next.source[0] == i && readers(p, N, i) == 1;
}

// Number of nodes from order[k] on that the rule takes; 0: it does not match.
template <class P, int N>
constexpr int match(Rule const& rule, P const& p, Plan<N> const& plan, int k) {
  int at = k;
  for (int t = 0; t < rule.length; ++t) {
    int found = 0;
    while (at < plan.nodes && p.node[plan.order[at]].role == rule.pattern[t].role &&
           (at == k || chained(p, plan, at - 1))) {
      ++at;
      ++found;
      if (!rule.pattern[t].many) break;
    }
    if (found == 0 && !rule.pattern[t].many) return 0;
  }
  return at - k;
}

constexpr bool is_dense(Node const& n) {
  return n.role == Role::contraction && n.input.positions() == 1 && n.output.positions() == 1 &&
         n.input.channels <= segment_rule.widest && n.output.channels <= segment_rule.widest;
}

// Number of steps from s on that can run as one segment.
template <class P, int N> constexpr int dense_run(P const& p, Plan<N> const& plan, int s) {
  int layers = 0, parameters = 0;
  while (s + layers < plan.size && layers < segment_rule.most_layers) {
    Step const& step = plan.step[s + layers];
    Node const& n = p.node[plan.head(step)];
    if (!is_dense(n) || step.fused == Fused::folded_contraction) break;
    if (layers > 0 && !chained(p, plan, step.first - 1)) break;
    parameters += n.weight_count + n.bias_count;
    if (parameters > segment_rule.most_parameters) break;
    ++layers;
  }
  return layers >= segment_rule.fewest_layers ? layers : 0;
}

}  // namespace detail

/// The plan of a program: rules first, then segments over the steps that the rules made.
template <class Program> constexpr Plan<Program::size> make_plan(Phase phase, Fusion fusion) {
  auto const& p = Program::nodes;
  Plan<Program::size> fine{};
  for (int i = 0; i < Program::size; ++i)
    if (p.node[i].role != Role::input && !p.node[i].alias) fine.order[fine.nodes++] = i;
  for (int k = 0; k < fine.nodes;) {
    Step s{Fused::single, k, 1, -1};
    if (fusion != Fusion::none) {
      int r = 0;
      for (Rule const& rule : rules) {
        int const count = (int(rule.when) & int(phase)) ? detail::match(rule, p, fine, k) : 0;
        if (count > 1) {
          s = {rule.becomes, k, count, r};
          break;
        }
        ++r;
      }
    }
    fine.step[fine.size++] = s;
    k += s.count;
  }
  if (fusion != Fusion::segment || phase != Phase::inference) return fine;
  Plan<Program::size> plan = fine;
  plan.size = 0;
  for (int s = 0; s < fine.size;) {
    int const run = detail::dense_run(p, fine, s);
    if (run == 0) {
      plan.step[plan.size++] = fine.step[s++];
      continue;
    }
    Step const& last = fine.step[s + run - 1];
    int const first = fine.step[s].first;
    plan.step[plan.size++] = {Fused::segment, first, last.first + last.count - first, -1};
    s += run;
  }
  return plan;
}

/// Whether a training step of the program is one segment with one loss, so that forward, loss,
/// backward and parameter gradients run in one pass.
template <class Program> constexpr bool is_whole_step(Fusion fusion) {
  auto const plan = make_plan<Program>(Phase::inference, fusion);
  return plan.size == 1 && plan.step[0].fused == Fused::segment && Program::nodes.inputs == 1 &&
         Program::nodes.outputs == 1;
}

}  // namespace phyllo
