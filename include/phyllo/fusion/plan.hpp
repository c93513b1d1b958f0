// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/rules.hpp>
#include <phyllo/network/program.hpp>

namespace phyllo::inline PHYLLO_ISA {

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

// Whether order[k] has one reader, order[k + 1], which reads nothing else, or adds one other value.
template <class P, int N> constexpr bool chained(P const& p, Plan<N> const& plan, int k) {
  if (k + 1 >= plan.nodes) return false;
  int const i = plan.order[k];
  Node const& next = p.node[plan.order[k + 1]];
  bool const adds = next.role == Role::add && next.source[1] == i;
  return (next.role == Role::add || next.sources == 1) && (next.source[0] == i || adds) &&
         readers(p, N, i) == 1;
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

// A Linear layer behind images: its window is the whole of its input.
constexpr bool is_dense_on_image(Node const& n) {
  bool whole = n.role == Role::contraction && n.output.positions() == 1 &&
               n.input.size() <= image_segment_rule.widest &&
               n.output.channels <= segment_rule.widest;
  for (int d = 0; d < 3; ++d)
    whole = whole && n.window.size[d] == n.input.spatial[d] && n.window.padding[d] == 0;
  return whole;
}

// A convolution whose gradient is one as well, or a pooling, of more than one position.
constexpr bool is_windowed(Node const& n) {
  bool reaches = n.input.positions() > 1;
  for (int d = 0; d < 3; ++d) reaches = reaches && n.window.padding[d] < n.window.size[d];
  return reaches && (n.role == Role::contraction || n.role == Role::pooling);
}

// How often the steps [first, last) read value v.
template <class P, int N>
constexpr int readers_within(P const& p, Plan<N> const& plan, int first, int last, int v) {
  int count = 0;
  for (int s = first; s < last; ++s) {
    Node const& n = p.node[plan.head(plan.step[s])];
    for (int i = 0; i < n.sources; ++i) count += n.source[i] == v;
  }
  return count;
}

// A run of steps that may become a segment, grown step by step.
template <class P, int N> struct SegmentRun {
  P const& p;
  Plan<N> const& plan;
  int first;
  Fusion fusion;
  int steps = 0, layers = 0, dense = 0, windowed = 0, parameters = 0;
  int values = 0;       // numbers of a sample, once there are images
  int rows_begin = -1;  // the step whose input are rows of channels

  constexpr int result(int s) const { return plan.tail(plan.step[s]); }

  // Whether node i is a value of the run that a sum may read.
  constexpr bool has_rows(int i) const {
    if (rows_begin < 0) return false;
    for (int s = rows_begin; s < first + steps; ++s)
      if (result(s) == i) return true;
    return rows_begin == first ? p.node[plan.head(plan.step[first])].source[0] == i
                               : result(rows_begin - 1) == i;
  }

  // Whether the next step joins.
  constexpr bool add() {
    int const s = first + steps;
    Step const& step = plan.step[s];
    Node const& n = p.node[plan.head(step)];
    bool const everything = fusion >= Fusion::tile;
    bool const folded = step.fused == Fused::folded_contraction;
    if (folded && !everything) return false;
    bool const next_to = steps == 0 || n.source[0] == result(s - 1) ||
                         (n.sources == 2 && n.source[1] == result(s - 1));
    if (!next_to || layers + folded == segment_rule.most_layers) return false;
    if (n.role == Role::add || n.role == Role::normalization) {
      bool const of_run = n.role != Role::add || (has_rows(n.source[0]) && has_rows(n.source[1]));
      if (!everything || dense == 0 || !of_run) return false;
    } else if (windowed == 0 || dense > 0 ? is_dense(n) : is_dense_on_image(n)) {
      if (rows_begin < 0) rows_begin = s;
      ++dense;
    } else if (everything && dense == 0 && !folded && is_windowed(n)) {
      if (windowed++ == 0) values = n.input.size();
    } else if (!(windowed > 0 && dense == 0 && n.role == Role::pointwise)) {
      return false;
    }
    for (int k = 0; k < step.count; ++k) {
      Node const& of_step = p.node[plan.order[step.first + k]];
      parameters += of_step.weight_count + of_step.bias_count;
      layers += of_step.role != Role::pointwise;
    }
    if (windowed > 0) values += n.output.size();
    ++steps;
    return values <= image_segment_rule.most_values &&
           parameters <=
               (windowed > 0 ? image_segment_rule.most_parameters : segment_rule.most_parameters);
  }

  // Whether the run may end here: nobody else reads what is inside, and it is worth a kernel.
  constexpr bool is_complete() const {
    if (dense < (windowed > 0 ? 1 : segment_rule.fewest_layers)) return false;
    for (int s = first; s + 1 < first + steps; ++s)
      if (readers(p, N, result(s)) != readers_within(p, plan, first, first + steps, result(s)))
        return false;
    return true;
  }
};

// Number of steps from s on that can run as one segment.
template <class P, int N>
constexpr int longest_segment(P const& p, Plan<N> const& plan, int s, Fusion fusion) {
  SegmentRun<P, N> run{p, plan, s, fusion};
  int longest = 0;
  while (s + run.steps < plan.size && run.add())
    if (run.is_complete()) longest = run.steps;
  return longest;
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
  if (fusion < Fusion::segment || phase != Phase::inference) return fine;
  Plan<Program::size> plan = fine;
  plan.size = 0;
  for (int s = 0; s < fine.size;) {
    int const run = detail::longest_segment(p, fine, s, fusion);
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
  // Statistics of a batch are known when all of it has passed.
  for (Node const& n : Program::nodes.node)
    if (n.role == Role::normalization) return false;
  return plan.size == 1 && plan.step[0].fused == Fused::segment && Program::nodes.inputs == 1 &&
         Program::nodes.outputs == 1 && Program::nodes.output[0] == plan.tail(plan.step[0]);
}

}  // namespace phyllo::inline PHYLLO_ISA
