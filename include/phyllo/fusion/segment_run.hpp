// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/steps.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// A product with one position that reads its whole input, each number once and in order.
constexpr bool reads_whole_input(Node const& n) {
  bool whole = facts_of(n).segment == SegmentPart::product;
  for (int d = 0; d < 3; ++d)
    whole = whole && n.window.size[d] == n.input.spatial[d] && n.window.padding[d] == 0;
  return whole;
}

// A Linear layer on rows of numbers: of channels, or a small image as one row.
constexpr bool is_dense(Node const& n) {
  return reads_whole_input(n) && n.input.size() <= segment_rule.widest &&
         n.output.channels <= segment_rule.widest;
}

// A Linear layer behind images.
constexpr bool is_dense_on_image(Node const& n) {
  return reads_whole_input(n) && n.input.size() <= image_segment_rule.widest &&
         n.output.channels <= segment_rule.widest;
}

// A convolution whose gradient is one as well, or a pooling, of more than one position or tap.
constexpr bool is_windowed(Node const& n) {
  bool reaches = n.input.positions() > 1 || n.window.taps() > 1;
  for (int d = 0; d < 3; ++d) reaches = reaches && n.window.padding[d] < n.window.size[d];
  SegmentPart const part = facts_of(n).segment;
  return reaches && (part == SegmentPart::product || part == SegmentPart::pooling);
}

// How often the steps [first, last) read value v.
template <int N>
constexpr int readers_within(Nodes<N> const& p, Plan<N> const& plan, int first, int last, int v) {
  int count = 0;
  for (int s = first; s < last; ++s) {
    Node const& n = p.node[plan.head(plan.step[s])];
    for (int i = 0; i < n.sources; ++i) count += n.source[i] == v;
  }
  return count;
}

// A run of steps that may become a segment, grown step by step. What its layers are is written to
// `role`, by their places in the order.
template <int N> struct SegmentRun {
  Nodes<N> const& p;
  Plan<N> const& plan;
  int first;
  FusionLevel fusion;
  SegmentRole* role;
  int steps = 0, layers = 0, dense = 0, windowed = 0;
  long parameters = 0;
  long values = 0;      // numbers of a sample, once there are images
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

  // What the head of a step is if it joins as a layer; none: it cannot.
  constexpr SegmentRole role_of(Node const& n, bool folded) const {
    bool const everything = fusion >= FusionLevel::tile;
    if (folded && !everything) return SegmentRole::none;
    SegmentPart const part = facts_of(n).segment;
    if (part == SegmentPart::sum || part == SegmentPart::normalization) {
      if (!everything || dense == 0) return SegmentRole::none;
      if (part == SegmentPart::normalization) return SegmentRole::normalization;
      return has_rows(n.source[0]) && has_rows(n.source[1]) ? SegmentRole::sum : SegmentRole::none;
    }
    if (windowed == 0 || dense > 0 ? is_dense(n) : is_dense_on_image(n)) return SegmentRole::dense;
    // A first layer that reads the whole image is a product of matrices: one sample a lane takes
    // 1.8 times its time (256 inputs to 64, float, AVX-512) to 3 times (784 to 128).
    bool const is_product = windowed == 0 && reads_whole_input(n);
    if (!everything || dense > 0 || folded || is_product || !is_windowed(n))
      return SegmentRole::none;
    return part == SegmentPart::pooling ? SegmentRole::pooling : SegmentRole::convolution;
  }

  // Whether the next step joins.
  constexpr bool add() {
    int const s = first + steps;
    Step const& step = plan.step[s];
    Node const& n = p.node[plan.head(step)];
    bool const next_to = steps == 0 || n.source[0] == result(s - 1) ||
                         (n.sources == 2 && n.source[1] == result(s - 1));
    if (!next_to) return false;
    bool const folded = step.kind == StepKind::folded_contraction;
    SegmentRole const as = role_of(n, folded);
    // Pointwise layers behind a pooling are its chain.
    bool const is_chain = windowed > 0 && dense == 0 && facts_of(n).segment == SegmentPart::chain;
    if (as == SegmentRole::none && !is_chain) return false;
    if (as == SegmentRole::dense) {
      if (rows_begin < 0) rows_begin = s;
      ++dense;
    } else if (as == SegmentRole::convolution || as == SegmentRole::pooling) {
      if (windowed++ == 0) values = n.input.size();
    }
    role[step.first] = as;
    if (folded) role[step.first + 1] = SegmentRole::normalization;
    for (int k = step.first; k < step.first + step.count; ++k) {
      Node const& of_step = p.node[plan.order[k]];
      parameters += of_step.parameter_count();
      if (role[k] == SegmentRole::none) continue;
      ++layers;
      if (windowed > 0) values += of_step.output.size();
    }
    ++steps;
    return layers <= segment_rule.most_layers && values <= image_segment_rule.most_values &&
           parameters <=
               (windowed > 0 ? image_segment_rule.most_parameters : segment_rule.most_parameters);
  }

  // Whether the run may end here: no other step reads the values inside, and it is worth a kernel.
  constexpr bool is_complete() const {
    if (dense < (windowed > 0 ? 1 : segment_rule.fewest_layers)) return false;
    for (int s = first; s + 1 < first + steps; ++s)
      if (readers(p, result(s)) != readers_within(p, plan, first, first + steps, result(s)))
        return false;
    return true;
  }
};

// Number of steps from s on that can run as one segment; the roles of its layers into `role`.
template <int N>
constexpr int longest_segment(Nodes<N> const& p, Plan<N> const& plan, int s, FusionLevel fusion,
                              SegmentRole (&role)[N]) {
  SegmentRun<N> run{p, plan, s, fusion, role};
  int longest = 0;
  while (s + run.steps < plan.size && run.add())
    if (run.is_complete()) longest = run.steps;
  int const end = s + longest < plan.size ? plan.step[s + longest].first : plan.nodes;
  for (int k = end; k < plan.nodes; ++k) role[k] = SegmentRole::none;
  return longest;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
