// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/memory.hpp>
#include <phyllo/fusion/segment_layers.hpp>

namespace phyllo::test {

/// How often the checked plans contained what a test of plans is about.
struct Coverage {
  long fused[8] = {};
  long layer[6] = {};  // by SegmentRole
  long whole_steps = 0, folded_in_segments = 0, most_layers = 0, widest = 0;
  long images_as_rows = 0, one_position_windows = 0, sums_of_the_input = 0, products_on_images = 0;
  long read_twice = 0, dead = 0, shared_outputs = 0, accumulated = 0, reused = 0;
};

/// Checks one plan of one array of nodes against what the passes do with it, written here once more
/// and without the planner's functions. The first thing that is wrong is `mistake`.
template <int N> class PlanCheck {
 public:
  char const* mistake = nullptr;

  PlanCheck(Nodes<N> const& nodes, Phase phase, FusionLevel fusion, int element, Coverage& seen)
      : p(nodes),
        plan(make_plan(nodes, phase, fusion)),
        life(nodes, plan, phase),
        memory(make_memory(life, element)),
        element_size(element),
        coverage(seen) {
    check_nodes();
    check_steps(phase);
    if (mistake == nullptr) check_whole_step(fusion);
    if (mistake == nullptr) check_slots();
    if (mistake == nullptr) run();
  }

 private:
  Nodes<N> const& p;
  Plan<N> const plan;
  Liveness<N> const life;
  Memory<N> const memory;
  int element_size;
  Coverage& coverage;

  void need(bool holds, char const* sentence) {
    if (!holds && mistake == nullptr) mistake = sentence;
  }
  Node const& node(int i) const { return p.node[i]; }
  bool is_output(int v) const {
    for (int o = 0; o < p.outputs; ++o)
      if (p.output[o] == v) return true;
    return false;
  }

  void check_nodes() {
    for (int i = 0; i < p.size; ++i) {
      Node const& n = node(i);
      if (n.role == Role::input || n.alias) continue;
      for (int s = 0; s < n.sources; ++s) {
        need(n.source[s] >= 0 && n.source[s] < i, "a node reads a value before it");
        if (mistake != nullptr) return;
        need(!node(n.source[s]).alias, "aliases are followed");
      }
      need(has_same_extents(n.input, node(n.source[0]).output),
           "a node reads the extents that the value is stored with");
      int channels = 0;
      for (int s = 0; s < n.sources; ++s) {
        Shape const& stored = node(n.source[s]).output;
        channels += stored.channels;
        if (n.role == Role::add)
          need(has_same_extents(stored, n.output), "the terms of a sum are stored alike");
        if (n.role == Role::concatenation)
          need(has_same_extents(stored.with_channels(1), n.output.with_channels(1)),
               "values side by side have the same positions");
      }
      if (n.role == Role::concatenation)
        need(channels == n.output.channels, "the channels side by side are those of the result");
    }
  }

  // Which step has node i, -1: none.
  int step_of(int i) const {
    for (int s = 0; s < plan.size; ++s)
      for (int k = plan.step[s].first; k < plan.step[s].first + plan.step[s].count; ++k)
        if (plan.order[k] == i) return s;
    return -1;
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
      if (plan.step[s].kind == StepKind::segment) {
        need(phase == Phase::inference, "segments are steps of inference");
        check_segment(plan.step[s]);
      } else {
        check_chain(s);
      }
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
      case StepKind::contraction_epilogue:
        need(head == Role::contraction, "its head is a contraction");
        break;
      case StepKind::normalization_epilogue:
        need(head == Role::normalization, "its head is a normalisation");
        break;
      case StepKind::add_epilogue:
        need(head == Role::add, "its head is a sum");
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
      parameters += node(plan.order[k]).weight_count + node(plan.order[k]).bias_count;
    for (int l = 0; l < layers.size && mistake == nullptr; ++l) {
      Node const& n = node(plan.order[layers.first[l]]);
      SegmentRole const role = layers.role[l];
      ++coverage.layer[int(role)];
      bool const is_image = role == SegmentRole::convolution || role == SegmentRole::pooling;
      Shape const& read = node(value(l)).output;
      if (is_image) {
        need(images == l, "convolutions and poolings are the first layers");
        ++images;
        for (int d = 0; d < 3; ++d)
          need(n.window.padding[d] < n.window.size[d], "a window reaches further than its padding");
        coverage.one_position_windows += n.input.positions() == 1;
      } else {
        need(n.output.positions() == 1, "a layer on rows has rows as its result");
        need(n.output.channels <= segment_rule.widest, "rows are at most as wide as the rule says");
        coverage.widest += n.output.channels == segment_rule.widest;
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
          need(n.weight_count == read.size() * n.output.channels, "its weights are a matrix");
          need(read.size() <= (images > 0 ? image_segment_rule.widest : segment_rule.widest),
               "its input is at most as wide as the rule says");
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
          int const earlier = layers.earlier[l];
          need(earlier >= images && earlier <= l, "a sum reads a row of the segment");
          if (mistake != nullptr) return;
          int const a = value(l), b = value(earlier);
          need((n.source[0] == a && n.source[1] == b) || (n.source[0] == b && n.source[1] == a),
               "a sum reads the value before and the earlier one");
          coverage.sums_of_the_input += earlier == 0;
          break;
        }
        default:
          need(n.role == Role::normalization, "a normalisation is a normalisation");
          coverage.folded_in_segments +=
              l > 0 && plan.role[layers.first[l] - 1] == SegmentRole::dense;
      }
      need(role == SegmentRole::sum || n.source[0] == value(l),
           "a layer reads the value before it");
      need(has_same_extents(n.input, read), "a layer reads the extents of the value before it");
    }
    if (mistake != nullptr) return;
    coverage.most_layers += layers.size == op::Segment<>::max_length;
    need(dense >= (images > 0 ? 1 : segment_rule.fewest_layers), "a segment is worth a kernel");
    need(parameters <=
             (images > 0 ? image_segment_rule.most_parameters : segment_rule.most_parameters),
         "the parameters fit");
    if (images > 0) {
      values = node(value(0)).output.size();
      for (int l = 1; l <= layers.size; ++l) values += node(value(l)).output.size();
      need(values <= image_segment_rule.most_values, "the values of a sample fit");
      need(!detail::reads_whole_input(node(plan.order[layers.first[0]])) ||
               layers.role[0] == SegmentRole::pooling,
           "a product of matrices is no convolution");
    }
  }

  void check_whole_step(FusionLevel fusion) {
    Plan<N> const inference = make_plan(p, Phase::inference, fusion);
    bool whole = inference.size == 1 && inference.step[0].kind == StepKind::segment &&
                 p.inputs == 1 && p.outputs == 1 &&
                 is_output(inference.order[inference.nodes - 1]) &&
                 node(node(inference.order[0]).source[0]).role == Role::input;
    for (int i = 0; i < p.size; ++i) whole = whole && node(i).role != Role::normalization;
    need(is_whole_step(p, fusion) == whole,
         "a whole step is one segment from the input to the output");
    coverage.whole_steps += whole;
  }

  void check_slots() {
    for (int i = 0; i < memory.slots; ++i) {
      Slot const& a = memory.slot[i];
      need(a.first <= a.last && a.offset >= 0 && a.offset % slot_alignment == 0 &&
               a.offset + a.bytes <= memory.bytes,
           "a slot is in the arena, aligned");
      for (int j = 0; j < i; ++j) {
        Slot const& b = memory.slot[j];
        bool const together = a.first <= b.last && b.first <= a.last;
        bool const apart = a.offset + a.bytes <= b.offset || b.offset + b.bytes <= a.offset;
        need(!together || apart, "slots of one time share no bytes");
      }
    }
    coverage.reused += memory.bytes < memory.bytes_without_reuse;
  }

  // The arena while the passes run: what each slot contains, and how many parts of a gradient are
  // in it. Writing destroys whatever shares bytes.
  struct Content {
    bool is[3 * N] = {};
    int parts[3 * N] = {};
  };
  Content content;

  bool holds(int slot) { return slot >= 0 && content.is[slot]; }
  void write(int slot, int v) {
    need(slot >= 0, "what is written has a slot");
    if (mistake != nullptr) return;
    Slot const& to = memory.slot[slot];
    need(to.bytes >= long(element_size) * node(v).output.size(), "a slot holds its value");
    for (int j = 0; j < memory.slots; ++j) {
      Slot const& other = memory.slot[j];
      if (other.offset < to.offset + to.bytes && to.offset < other.offset + other.bytes)
        content.is[j] = false;
    }
    content.is[slot] = true;
    content.parts[slot] = 1;
  }

  void run() {
    for (int i = 0; i < p.size; ++i)
      if (node(i).role == Role::input) write(memory.value[i], i);
    for (int s = 0; s < plan.size && mistake == nullptr; ++s) forward(s);
    for (int o = 0; o < p.outputs; ++o) {
      need(holds(memory.value[p.output[o]]), "an output is there at the end");
      for (int k = 0; k < o; ++k) coverage.shared_outputs += p.output[k] == p.output[o];
    }
    if (life.phase == Phase::inference || mistake != nullptr) return;
    for (int o = 0; o < p.outputs; ++o) write(memory.gradient[p.output[o]], p.output[o]);
    for (int s = plan.size - 1; s >= 0 && mistake == nullptr; --s) backward(s);
    for (int i = 0; i < p.size && mistake == nullptr; ++i)
      if (node(i).role == Role::input && depends(i)) need_gradient(i);
  }

  // The values that step s reads, those of sums inside included.
  template <class F> void for_sources(int s, F const& f) {
    Step const& step = plan.step[s];
    for (int k = step.first; k < step.first + step.count; ++k) {
      Node const& n = node(plan.order[k]);
      for (int i = 0; i < n.sources; ++i)
        if (step_of(n.source[i]) != s) f(n.source[i]);
    }
  }

  void forward(int s) {
    int const v = plan.tail(plan.step[s]);
    auto const reads = [&] {
      for_sources(s, [&](int source) {
        need(holds(memory.value[source]), "a step reads values that are there");
      });
    };
    reads();
    write(memory.value[v], v);
    if (life.saves(s)) write(memory.saved[s], v);
    reads();
    if (life.saves(s)) need(holds(memory.value[v]), "a kept value is beside the result");
    int readers = 0;
    for (int r = 0; r < plan.size; ++r) for_sources(r, [&](int source) { readers += source == v; });
    coverage.read_twice += readers > 1;
    coverage.dead += readers == 0 && !is_output(v);
  }

  // Whether an output depends on value v.
  bool depends(int v) const {
    if (is_output(v)) return true;
    for (int j = v + 1; j < p.size; ++j)
      for (int i = 0; i < node(j).sources; ++i)
        if (!node(j).alias && node(j).source[i] == v && depends_once(j)) return true;
    return false;
  }
  // The same, of nodes that were asked before.
  mutable signed char known[N] = {};
  bool depends_once(int v) const {
    if (known[v] == 0) known[v] = depends(v) ? 1 : 2;
    return known[v] == 1;
  }

  // The gradient of v contains a part from every reader that an output depends on.
  void need_gradient(int v) {
    int parts = is_output(v) ? 1 : 0;
    for (int r = 0; r < plan.size; ++r)
      if (depends_once(plan.tail(plan.step[r])))
        for_sources(r, [&](int source) { parts += source == v; });
    need(holds(memory.gradient[v]), "a gradient is there when it is read");
    if (mistake != nullptr) return;
    need(content.parts[memory.gradient[v]] == parts, "a gradient is the sum of all its parts");
  }

  void backward(int s) {
    Step const& step = plan.step[s];
    int const v = plan.tail(step), chain = life.chain_first(step), end = step.first + step.count;
    Node const& head = node(plan.head(step));
    need(life.has_gradient[v] == depends_once(v), "gradients are of what outputs depend on");
    if (!life.has_gradient[v]) return;
    Derivative of = Derivative::nothing;
    if (end - chain == 1)
      of = node(plan.order[chain]).derivative_of;
    else
      for (int k = chain; k < end; ++k)
        if (node(plan.order[k]).derivative_of != Derivative::nothing) of = Derivative::input;
    bool const adds = step.kind == StepKind::normalization_add;
    // What the kernels read: the input of the chain is kept, or made again from the sources.
    auto const reads = [&] {
      need(holds(memory.gradient[v]), "a step reads the gradient of its result");
      bool sources = false, result = head.role == Role::softmax, kept = false;
      switch (head.role) {
        case Role::contraction:
          sources = true;
          [[fallthrough]];
        case Role::add:
          kept = of == Derivative::input;
          result = of == Derivative::output;
          break;
        case Role::normalization:
          sources = true;
          result = adds && of == Derivative::output;
          break;
        case Role::pooling:
          sources = true;
          break;
        case Role::pointwise:
          sources = of == Derivative::input;
          result = of == Derivative::output;
          break;
        default:
          break;
      }
      if (kept) need(memory.saved[s] >= 0 && holds(memory.saved[s]), "a kept value is there");
      if (result) need(holds(memory.value[v]), "a result is there when it is read again");
      if (sources)
        for (int i = 0; i < head.sources; ++i)
          need(holds(memory.value[head.source[i]]), "a source is there when it is read again");
      if (adds && of == Derivative::input)
        need(holds(memory.value[life.source(s, 1)]), "the added value is there");
    };
    need_gradient(v);
    reads();
    for (int i = 0; i < life.sources(s) && mistake == nullptr; ++i) {
      int const source = life.source(s, i), slot = memory.gradient[source];
      if (life.accumulates(s, i)) {
        need(holds(slot), "a sum goes on where it was begun");
        if (mistake == nullptr) ++content.parts[slot], ++coverage.accumulated;
      } else {
        write(slot, source);
      }
    }
    if (mistake == nullptr) reads();
  }
};

}  // namespace phyllo::test
