// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/steps.hpp>
#include <phyllo/op/segment_limits.hpp>

namespace phyllo::inline PHYLLO_ISA::detail {

// A product with one position that reads its whole input, each number once and in order.
constexpr bool reads_whole_input(Node const& n) {
  bool whole = facts_of(n).segment == SegmentPart::product;
  for (int d = 0; d < 3; ++d)
    whole = whole && n.window.size[d] == n.input.spatial[d] && n.window.padding[d] == 0;
  return whole;
}

// A convolution whose gradient is one as well, or a pooling, of more than one position or tap.
constexpr bool is_windowed(Node const& n) {
  bool reaches = !n.ends_segment && (n.input.positions() > 1 || n.window.taps() > 1);
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
// `role`, by their places in the order; why it does not grow further to `end`.
template <int N> struct SegmentRun {
  Nodes<N> const& p;
  Plan<N> const& plan;
  int first;
  FusionLevel fusion;
  SegmentLimits const& limits;
  SegmentRole* role;
  int steps = 0, layers = 0, dense = 0, windowed = 0;
  long parameters = 0;
  long values = 0;      // numbers of a sample, once there are images
  int channels = 0;     // of the widest image
  int rows_begin = -1;  // the step whose input are rows of channels
  FusionEnd end = {};
  FusionEnd no_rows = {EndReason::no_rows};  // why no Linear layer follows the images

  constexpr int result(int s) const { return plan.tail(plan.step[s]); }

  // Whether node i is a value of the run that a sum may read.
  constexpr bool has_rows(int i) const {
    if (rows_begin < 0) return false;
    for (int s = rows_begin; s < first + steps; ++s)
      if (result(s) == i) return true;
    return rows_begin == first ? p.node[plan.head(plan.step[first])].source[0] == i
                               : result(rows_begin - 1) == i;
  }

  constexpr bool refused(EndReason reason, long found = 0, long most = 0) {
    end = {reason, int(found), int(most)};
    return false;
  }
  constexpr bool refused_node(int i) { return refused(EndReason::not_a_layer, i); }

  // Whether node i is a Linear layer that fits: on rows of channels, on a small image as one row,
  // or on the images of the run.
  constexpr bool joins_as_dense(int i) {
    Node const& n = p.node[i];
    if (!reads_whole_input(n)) return refused_node(i);
    bool const on_images = windowed > 0 && dense == 0;
    int const inputs = n.input.size(), most = on_images ? limits.images.widest : limits.widest;
    if (inputs > most)
      return refused(on_images ? EndReason::features : EndReason::channels, inputs, most);
    if (n.output.channels > limits.widest)
      return refused(EndReason::channels, n.output.channels, limits.widest);
    long const scratch = limits.scratch.of_layer(inputs, n.output.channels);
    if (limits.scratch.bytes > 0 && scratch > limits.scratch.bytes)
      return refused(EndReason::scratch, scratch, limits.scratch.bytes);
    return true;
  }
  // Whether node i joins as what is beyond a perceptron.
  constexpr bool joins_by(bool backend_has_it, EndReason without) {
    if (fusion < FusionLevel::tile) return refused(EndReason::level);
    return backend_has_it || refused(without);
  }
  constexpr bool joins_rows(int i) {
    Node const& n = p.node[i];
    SegmentPart const part = facts_of(n).segment;
    if (dense == 0 || n.ends_segment) return refused_node(i);
    if (part == SegmentPart::row_norm) return joins_by(limits.row_norms, EndReason::row_norms);
    if (part == SegmentPart::normalization)
      return joins_by(limits.normalizations, EndReason::normalizations);
    return joins_by(limits.sums, EndReason::sums) &&
           ((has_rows(n.source[0]) && has_rows(n.source[1])) || refused(EndReason::outside_value));
  }

  // Whether node i is a batch normalisation in front of the run: of rows that only it reads, so
  // that their gradient can be finished where it is once the segment has run backwards.
  constexpr bool begins_as_batch_normalization(int i) const {
    Node const& n = p.node[i];
    int const source = n.source[0];
    return limits.batch_normalizations && fusion >= FusionLevel::tile && steps == 0 &&
           facts_of(n).segment == SegmentPart::normalization && n.sources == 1 &&
           n.input.positions() == 1 && n.input.channels <= limits.widest &&
           n.parameter_count() > 0 && !n.global_statistics && p.reads_as_stored(n) &&
           plan.step[first].kind != StepKind::normalization_add && !is_given(p.node[source]) &&
           readers(p, source) == 1;
  }
  constexpr bool begins_with_batch_normalization() const {
    return role[plan.step[first].first] == SegmentRole::batch_normalization;
  }

  // What the head of a step is if it joins as a layer; none: it cannot.
  constexpr SegmentRole role_of(int i, bool folded) {
    Node const& n = p.node[i];
    if (begins_as_batch_normalization(i)) return SegmentRole::batch_normalization;
    if (folded && !joins_by(limits.normalizations, EndReason::normalizations))
      return SegmentRole::none;
    SegmentPart const part = facts_of(n).segment;
    if (part == SegmentPart::sum || part == SegmentPart::normalization ||
        part == SegmentPart::row_norm) {
      if (!joins_rows(i)) return SegmentRole::none;
      return part == SegmentPart::sum             ? SegmentRole::sum
             : part == SegmentPart::normalization ? SegmentRole::normalization
                                                  : SegmentRole::row_norm;
    }
    if (joins_as_dense(i)) return SegmentRole::dense;
    // A first layer that reads the whole image is a product of matrices: one sample a lane takes
    // 1.8 times its time (256 inputs to 64, float, AVX-512) to 3 times (784 to 128).
    bool const is_product = windowed == 0 && reads_whole_input(n);
    if (rows_begin >= 0 || folded || is_product || !is_windowed(n)) return SegmentRole::none;
    if (windowed > 0 && reads_whole_input(n)) no_rows = end;
    if (!joins_by(limits.windows, EndReason::windows)) return SegmentRole::none;
    return part == SegmentPart::pooling ? SegmentRole::pooling : SegmentRole::convolution;
  }

  // Whether the next step joins.
  constexpr bool add() {
    int const s = first + steps;
    Step const& step = plan.step[s];
    int const head = plan.head(step);
    Node const& n = p.node[head];
    bool const next_to = steps == 0 || n.source[0] == result(s - 1) ||
                         (n.sources == 2 && n.source[1] == result(s - 1));
    if (!next_to) return refused(EndReason::other_input);
    // The first layer may read an alias: its kernels read the slot of the value.
    if (steps > 0 && !p.reads_as_stored(n)) return refused_node(head);
    // Across its ends nothing in it could be computed again.
    if (steps > 0 && begins_with_batch_normalization() &&
        n.recomputed != p.node[plan.head(plan.step[first])].recomputed)
      return refused(EndReason::recompute);
    bool const folded = step.kind == StepKind::folded_contraction;
    SegmentRole const as = role_of(head, folded);
    // Pointwise layers behind a pooling are its chain.
    bool const is_chain = windowed > 0 && dense == 0 && facts_of(n).segment == SegmentPart::chain;
    if (as == SegmentRole::none && !is_chain) return false;
    if (as == SegmentRole::dense || as == SegmentRole::batch_normalization) {
      if (rows_begin < 0) rows_begin = s;
      dense += as == SegmentRole::dense;
    } else if (as == SegmentRole::convolution || as == SegmentRole::pooling) {
      if (windowed++ == 0) values = n.input.size();
      channels = channels > n.output.channels ? channels : n.output.channels;
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
    long const most = windowed > 0 ? limits.images.most_parameters : limits.most_parameters;
    if (layers > limits.most_layers) return refused(EndReason::layers, layers, limits.most_layers);
    if (windowed > 0 && values > limits.images.most_values)
      return refused(EndReason::values, values, limits.images.most_values);
    if (parameters > most) return refused(EndReason::parameters, parameters, most);
    end = {};
    return true;
  }

  // A layer whose result the backward pass does not need again: no pointwise one is behind it.
  constexpr bool is_lone_layer() const {
    return limits.lone_layers && steps == 1 && plan.step[first].count == 1 &&
           !begins_with_batch_normalization();
  }
  // Whether images without a Linear layer behind them are worth a kernel. What a Linear layer
  // could not read ends the segment in front of it.
  constexpr bool is_trunk() const {
    Node const& last = p.node[plan.head(plan.step[first + steps - 1])];
    bool const refused_linear = windowed > 1 && reads_whole_input(last);
    return (windowed >= limits.fewest_layers || is_lone_layer()) && parameters > 0 &&
           channels <= limits.images.most_channels && !refused_linear;
  }

  // What is against an end of the run here: another step reads a value inside, or it is not worth a
  // kernel.
  constexpr FusionEnd incomplete() const {
    if (windowed > 0 && dense == 0 && !is_trunk()) return no_rows;
    // A batch normalisation saves a pass over its result in front of one Linear layer already.
    int const fewest = begins_with_batch_normalization() ? 1 : limits.fewest_layers;
    if (windowed == 0 && dense < fewest && !is_lone_layer())
      return {EndReason::few_layers, dense, fewest};
    for (int s = first; s + 1 < first + steps; ++s)
      if (readers(p, result(s)) != readers_within(p, plan, first, first + steps, result(s)))
        return {EndReason::read_outside};
    return {};
  }
};

// Number of steps from s on that can run as one segment; the roles of its layers into `role`, and
// what ended it, or kept it from being one, into `end`.
template <int N>
constexpr int longest_segment(Nodes<N> const& p, Plan<N> const& plan, int s, FusionLevel fusion,
                              SegmentLimits const& limits, SegmentRole (&role)[N], FusionEnd& end) {
  SegmentRun<N> run{p, plan, s, fusion, limits, role};
  int longest = 0, grown = 0;
  FusionEnd incomplete{};
  while (s + run.steps < plan.size && run.add()) {
    grown = run.steps;
    incomplete = run.incomplete();
    if (incomplete.reason == EndReason::none) longest = grown;
  }
  bool const refused =
      run.end.reason != EndReason::none && run.end.reason != EndReason::not_a_layer;
  end = run.end;
  if (grown > longest && (incomplete.reason == EndReason::read_outside || !refused))
    end = incomplete;
  if (grown == 0 && !refused) end = {};
  int const next = s + longest < plan.size ? plan.step[s + longest].first : plan.nodes;
  for (int k = next; k < plan.nodes; ++k) role[k] = SegmentRole::none;
  return longest;
}

}  // namespace phyllo::inline PHYLLO_ISA::detail
