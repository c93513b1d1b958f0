// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "arena_check.hpp"

namespace phyllo::test {

/// Checks one plan of one array of nodes against what the passes do with it, written here once more
/// and without the planner's functions. The first thing that is wrong is `mistake`.
template <int N> class PlanCheck : public ArenaCheck<N> {
 public:
  using Facts = PlanFacts<N>;
  using Facts::coverage;
  using Facts::is_output;
  using Facts::life;
  using Facts::limits;
  using Facts::memory;
  using Facts::mistake;
  using Facts::need;
  using Facts::node;
  using Facts::p;
  using Facts::plan;
  using Facts::step_of;

  PlanCheck(Nodes<N> const& nodes, Phase phase, FusionLevel fusion, SegmentLimits const& of_backend,
            int element, Recomputation recomputation, Coverage& seen)
      : ArenaCheck<N>(nodes, phase, fusion, of_backend, element, recomputation, seen) {
    check_nodes();
    check_steps(phase);
    if (mistake == nullptr) check_whole_step(fusion);
    if (mistake == nullptr) this->check_arena();
  }

 private:
  void check_nodes() {
    for (int i = 0; i < p.size; ++i) {
      Node const& n = node(i);
      if (n.role == Role::input || n.alias) continue;
      for (int s = 0; s < n.sources; ++s) {
        need(n.source[s] >= 0 && n.source[s] < i, "a node reads a value before it");
        if (mistake != nullptr) return;
        need(!node(n.source[s]).alias, "aliases are followed");
      }
      for (int s = 0; s < n.sources; ++s)
        need(n.source_shape[s].size() == node(n.source[s]).output.size(),
             "a node reads as many numbers as the value has");
      coverage.other_extents += !p.reads_as_stored(n);
      int channels = 0;
      for (int s = 0; s < n.sources; ++s) {
        Shape const read = n.source_shape[s];
        channels += read.channels;
        if (n.role == Role::add)
          need(has_same_extents(read, n.output), "the terms of a sum are read alike");
        if (n.role == Role::concatenation)
          need(has_same_extents(read.with_channels(1), n.output.with_channels(1)),
               "values side by side have the same positions");
      }
      if (n.role == Role::concatenation)
        need(channels == n.output.channels, "the channels side by side are those of the result");
    }
  }

  void check_steps(Phase phase) {
    int next = 0, before = -1;
    for (int s = 0; s < plan.size; ++s) {
      need(plan.step[s].first == next && plan.step[s].count > 0, "steps follow each other");
      next += plan.step[s].count;
    }
    need(next == plan.nodes, "the steps contain every node of the order");
    int work = 0;
    for (int i = 0; i < p.size; ++i) work += node(i).role != Role::input && !node(i).alias;
    need(work == plan.nodes, "every node with work is in the order");
    for (int k = 0; k < plan.nodes; ++k) {
      need(plan.order[k] > before, "the order is that of the nodes");
      before = plan.order[k];
      need(node(before).role != Role::input && !node(before).alias, "the order contains work only");
    }
    for (int s = 0; s < plan.size && mistake == nullptr; ++s) {
      check_inside(s);
      ++coverage.fused[int(plan.step[s].kind)];
      check_end(plan.step[s].end);
      if (plan.step[s].kind == StepKind::segment) {
        need(phase == Phase::inference || limits.trains, "the backend trains segments");
        check_segment(plan.step[s]);
      } else {
        check_chain(s);
      }
    }
  }

  // What ended a step is beyond what the backend takes.
  void check_end(FusionEnd const& end) {
    switch (end.reason) {
      case EndReason::channels:
      case EndReason::features:
      case EndReason::layers:
      case EndReason::parameters:
      case EndReason::values:
      case EndReason::scratch:
        need(end.found > end.most, "a limit that ended a step is exceeded");
        ++coverage.limited;
        break;
      case EndReason::few_layers:
        need(end.found < end.most, "a run of too few layers has fewer than the limit");
        break;
      case EndReason::not_a_layer:
        need(end.found > 0 && node(end.found).role != Role::input, "what ends a step is a layer");
        break;
      default:
        need(end.found == 0 && end.most == 0, "other ends have no numbers");
    }
  }

  // Values inside a step are read by the same step only.
  void check_inside(int s) {
    Step const& step = plan.step[s];
    for (int k = step.first; k + 1 < step.first + step.count; ++k) {
      int const v = plan.order[k];
      need(!is_output(v), "an output is the result of a step");
      for (int j = 0; j < p.size; ++j)
        for (int i = 0; i < node(j).sources; ++i)
          if (!node(j).alias && node(j).source[i] == v)
            need(step_of(j) == s, "a value inside a step has readers in the step only");
    }
  }

  void check_chain(int s) {
    Step const& step = plan.step[s];
    int const chain = life.chain_first(step), end = step.first + step.count;
    static constexpr Role none = Role::input;
    Role const head = node(plan.head(step)).role;
    Role second = none;
    switch (step.kind) {
      case StepKind::single:
        need(step.count == 1, "a single step is one node");
        break;
      case StepKind::folded_contraction:
        need(head == Role::contraction, "a folded step begins with a contraction");
        second = Role::normalization;
        break;
      case StepKind::normalization_add:
        need(head == Role::normalization, "its head is a normalisation");
        second = Role::add;
        break;
      case StepKind::attention:
        check_attention(step);
        return;
      case StepKind::contraction_epilogue:
        need(head == Role::contraction, "its head is a contraction");
        break;
      case StepKind::normalization_epilogue:
        need(head == Role::normalization || this->normalizes_rows(s),
             "its head is a normalisation");
        need(!node(plan.head(step)).ends_chain, "it has a chain");
        break;
      case StepKind::add_epilogue:
        need(head == Role::add || head == Role::map, "its head is a sum or a map");
        break;
      default:
        need(head == Role::pointwise, "a chain begins with a pointwise layer");
    }
    if (second != none)
      need(node(plan.order[step.first + 1]).role == second, "the second node fits");
    int const others = (head == Role::pointwise ? 0 : 1) + (second != none ? 1 : 0);
    need(chain == step.first + others, "the chain begins behind what is no pointwise layer");
    for (int k = chain; k < end; ++k)
      need(node(plan.order[k]).role == Role::pointwise, "a chain contains pointwise layers only");
    for (int k = step.first + 1; k < end; ++k) {
      Node const& n = node(plan.order[k]);
      bool reads_before = false;
      for (int i = 0; i < n.sources; ++i) reads_before |= n.source[i] == plan.order[k - 1];
      need(reads_before, "a fused node reads the one before");
      need(p.reads_as_stored(n), "a fused node reads the extents that a value is stored with");
    }
  }

  // Scores, softmax, dropouts, sums of values, each of the one before.
  void check_attention(Step const& step) {
    int const end = step.first + step.count;
    need(step.count >= 3, "an attention has at least three layers");
    need(life.chain_first(step) == step.first + 2 && life.chain_length(step) == step.count - 3,
         "the chain of an attention is between softmax and sums");
    for (int k = step.first; k < end; ++k) {
      Node const& n = node(plan.order[k]);
      AttentionPart const part = k == step.first       ? AttentionPart::scores
                                 : k == step.first + 1 ? AttentionPart::weights
                                 : k + 1 < end         ? AttentionPart::dropout
                                                       : AttentionPart::values;
      need(n.part == part, "the layers of an attention are in order");
      need(k == step.first || n.source[0] == plan.order[k - 1],
           "a layer of an attention reads the one before");
    }
  }

  // Each layer of a segment is what the kernels make of it.
  void check_segment(Step const& step) {
    int count = 0;
    for (int k = step.first; k < step.first + step.count; ++k)
      count += plan.role[k] != SegmentRole::none;
    need(count >= 1 && count <= op::Segment<>::max_length, "a segment has at most 16 layers");
    need(plan.role[step.first] != SegmentRole::none, "a segment begins with a layer");
    if (mistake != nullptr) return;
    auto const layers = detail::segment_layers(p, plan, step);
    long parameters = 0, values = 0;
    int images = 0, dense = 0;
    // Value l of the segment: the node that computes it, or the source.
    auto const value = [&](int l) {
      return l == 0 ? node(plan.head(step)).source[0] : plan.order[layers.first[l] - 1];
    };
    for (int k = step.first; k < step.first + step.count; ++k)
      parameters += int(node(plan.order[k]).parameter_count());
    for (int l = 0; l < layers.size && mistake == nullptr; ++l) {
      Node const& n = node(plan.order[layers.first[l]]);
      SegmentRole const role = layers.role[l];
      ++coverage.layer[int(role)];
      bool const is_image = role == SegmentRole::convolution || role == SegmentRole::pooling;
      // The first layer may read its value under other extents, in its slot.
      Shape const read = l == 0 ? n.input : node(value(l)).output;
      coverage.segments_of_other_extents += l == 0 && !p.reads_as_stored(n);
      if (is_image) {
        need(images == l, "convolutions and poolings are the first layers");
        ++images;
        need(limits.windows, "the backend has windows in segments");
        for (int d = 0; d < 3; ++d)
          need(n.window.padding[d] < n.window.size[d], "a window reaches further than its padding");
        coverage.one_position_windows += n.input.positions() == 1;
      } else {
        need(n.output.positions() == 1, "a layer on rows has rows as its result");
        need(n.output.channels <= limits.widest, "rows are at most as wide as the rule says");
        coverage.widest += n.output.channels == limits.widest;
      }
      for (int k = layers.first[l] + 1; k < layers.first[l + 1]; ++k)
        need(node(plan.order[k]).role == Role::pointwise &&
                 node(plan.order[k]).source[0] == plan.order[k - 1],
             "behind a layer is its chain");
      switch (role) {
        case SegmentRole::dense:
          ++dense;
          need(n.role == Role::contraction, "a dense layer is a contraction");
          for (int d = 0; d < 3; ++d)
            need(n.window.size[d] == read.spatial[d] && n.window.padding[d] == 0,
                 "a dense layer reads each number of its input once, in order");
          need(n.parameter[0].count == read.size() * n.output.channels, "its weights are a matrix");
          need(read.size() <= (images > 0 ? limits.images.widest : limits.widest),
               "its input is at most as wide as the rule says");
          need(limits.scratch.bytes == 0 ||
                   limits.scratch.of_layer(read.size(), n.output.channels) <= limits.scratch.bytes,
               "its weights fit scratch memory");
          need(l == 0 || images == l || read.positions() == 1, "behind rows are rows");
          coverage.images_as_rows += l == 0 && read.positions() > 1;
          coverage.products_on_images += images > 0 && images == l && read.positions() > 1;
          break;
        case SegmentRole::convolution:
          need(n.role == Role::contraction, "a convolution is a contraction");
          break;
        case SegmentRole::pooling:
          need(n.role == Role::pooling, "a pooling is a pooling");
          break;
        case SegmentRole::sum: {
          need(n.role == Role::add, "a sum is a sum");
          need(limits.sums, "the backend has sums in segments");
          int const earlier = layers.earlier[l];
          need(earlier >= images && earlier <= l, "a sum reads a row of the segment");
          if (mistake != nullptr) return;
          int const a = value(l), b = value(earlier);
          need((n.source[0] == a && n.source[1] == b) || (n.source[0] == b && n.source[1] == a),
               "a sum reads the value before and the earlier one");
          coverage.sums_of_the_input += earlier == 0;
          break;
        }
        case SegmentRole::row_norm:
          need(n.role == Role::row && !n.ends_segment, "a row normalisation is one, no softmax");
          need(limits.row_norms, "the backend has row normalisations in segments");
          need(dense > 0, "a row normalisation is behind a dense layer");
          need(read.positions() == 1, "it reads rows");
          break;
        case SegmentRole::batch_normalization: {
          int const source = n.source[0];
          need(n.role == Role::normalization, "a batch normalisation is a normalisation");
          need(limits.batch_normalizations, "the backend has batch normalisations in segments");
          need(life.phase == Phase::training, "statistics of a batch are those of training");
          need(l == 0, "a batch normalisation begins a segment");
          need(n.parameter[0].count > 0 && n.parameter[1].count > 0,
               "the gradients of scale and shift have the sums that its own gradient needs");
          need(node(source).role != Role::input && !is_output(source),
               "the gradient of its source is in a slot");
          int readers = 0;
          for (int i = 0; i < p.size; ++i)
            for (int s = 0; s < node(i).sources; ++s)
              readers += !node(i).alias && node(i).source[s] == source;
          need(readers == 1, "nothing else adds to the gradient of its source");
          need(read.positions() == 1 && p.reads_as_stored(n), "it reads rows");
          break;
        }
        default:
          need(n.role == Role::normalization, "a normalisation is a normalisation");
          need(limits.normalizations, "the backend has normalisations in segments");
          need(life.phase == Phase::inference, "statistics of a batch are no part of a segment");
          coverage.folded_in_segments +=
              l > 0 && plan.role[layers.first[l] - 1] == SegmentRole::dense;
      }
      need(role == SegmentRole::sum || n.source[0] == value(l),
           "a layer reads the value before it");
      need(has_same_extents(n.input, read), "a layer reads the extents of the value before it");
    }
    if (mistake != nullptr) return;
    need(layers.size <= limits.most_layers, "no more layers than the backend takes");
    coverage.most_layers += layers.size == limits.most_layers;
    bool const is_lone = life.phase == Phase::training && limits.lone_layers && step.count == 1;
    if (images > 0 && dense == 0)
      check_trunk(layers, parameters, is_lone);
    else
      need(dense >= (images > 0 || layers.role[0] == SegmentRole::batch_normalization
                         ? 1
                         : limits.fewest_layers) ||
               is_lone,
           "a segment is worth a kernel");
    coverage.lone_layers += is_lone;
    need(parameters <= (images > 0 ? limits.images.most_parameters : limits.most_parameters),
         "the parameters fit");
    if (images > 0) {
      values = node(value(0)).output.size();
      for (int l = 1; l <= layers.size; ++l) values += node(value(l)).output.size();
      need(values <= limits.images.most_values, "the values of a sample fit");
      need(!detail::reads_whole_input(node(plan.order[layers.first[0]])) ||
               layers.role[0] == SegmentRole::pooling,
           "a product of matrices is no convolution");
    }
  }

  // Images alone: no more channels than lanes pay for, and not in front of a product that a head
  // was refused as.
  void check_trunk(detail::SegmentLayers const& layers, long parameters, bool is_lone) {
    need(layers.size >= limits.fewest_layers || is_lone, "images alone are worth a kernel");
    need(parameters > 0, "images alone have parameters");
    for (int l = 0; l < layers.size; ++l)
      need(node(plan.order[layers.first[l]]).output.channels <= limits.images.most_channels,
           "images alone have few channels");
    need(layers.size == 1 ||
             !detail::reads_whole_input(node(plan.order[layers.first[layers.size - 1]])),
         "a product of matrices ends no segment of images");
    ++coverage.trunks;
  }

  void check_whole_step(FusionLevel fusion) {
    Plan<N> const training = make_plan(p, Phase::training, fusion, limits);
    bool whole = training.size == 1 && training.step[0].kind == StepKind::segment &&
                 p.inputs == 1 && p.outputs == 1 && is_output(training.order[training.nodes - 1]) &&
                 node(node(training.order[0]).source[0]).role == Role::input &&
                 has_same_extents(p.output_shape[0], node(p.output[0]).output);
    bool has_rows = false;
    for (int k = 0; k < training.nodes; ++k) {
      Node const& n = node(training.order[k]);
      whole = whole && n.role != Role::normalization;
      has_rows = has_rows || training.role[k] == SegmentRole::dense;
    }
    whole = whole && has_rows;
    need(is_whole_step(p, fusion, limits) == (whole && limits.trains && limits.whole_steps),
         "a whole step is one segment from the input to the output");
    coverage.whole_steps += whole;
  }
};

}  // namespace phyllo::test
