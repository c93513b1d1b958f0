// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "plan_facts.hpp"

namespace phyllo::test {

/// The arena of a plan while the passes run, forward and backward: every value that a step reads is
/// there, and every gradient is the sum of all its parts.
template <int N> class ArenaCheck : public PlanFacts<N> {
 public:
  using Facts = PlanFacts<N>;
  using Facts::coverage;
  using Facts::element_size;
  using Facts::is_output;
  using Facts::life;
  using Facts::memory;
  using Facts::mistake;
  using Facts::need;
  using Facts::node;
  using Facts::p;
  using Facts::plan;
  using Facts::PlanFacts;
  using Facts::step_of;

  void check_arena() {
    check_slots();
    if (mistake == nullptr) run();
  }

 protected:
  // Whether a step keeps numbers besides values: the first maximum of each window, or how many.
  bool takes_maxima(int s) const {
    return plan.step[s].kind != StepKind::segment &&
           node(plan.head(plan.step[s])).role == Role::reduce &&
           node(plan.head(plan.step[s])).saved[0].elements > 0;
  }
  bool attends(int s) const { return plan.step[s].kind == StepKind::attention; }
  // Mean and deviation of each row, or of each group, which a step keeps for its backward pass.
  bool normalizes_rows(int s) const {
    return plan.step[s].kind != StepKind::segment &&
           node(plan.head(plan.step[s])).role == Role::row &&
           node(plan.head(plan.step[s])).saved[0].elements > 0;
  }

  // What a recurrence keeps beside its overwritten source.
  bool scans(int s) const {
    return plan.step[s].kind != StepKind::segment &&
           node(plan.head(plan.step[s])).role == Role::scan;
  }

 private:
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
    bool is[Memory<N>::most] = {};
    int parts[Memory<N>::most] = {};
    bool written_over[Memory<N>::most] = {};  // by a recurrence, with what it keeps
  };
  Content content;
  bool backwards = false;  // then what was computed again has another slot

  int value(int v) const { return backwards ? memory.value_again[v] : memory.value[v]; }
  int saved(int s) const { return backwards ? memory.saved_again[s] : memory.saved[s]; }
  int kept(int s, int k) const { return backwards ? memory.kept_again[s][k] : memory.kept[s][k]; }

  bool holds(int slot) { return slot >= 0 && content.is[slot]; }
  int bytes_of(ValueType type) const {
    if (type == ValueType::integer) return 4;
    return type == ValueType::accumulate && element_size < 4 ? 4 : element_size;
  }
  void write(int slot, int v) { write(slot, node(v).output.size(), node(v).type); }
  void write(int slot, long elements, ValueType type) {
    need(slot >= 0, "what is written has a slot");
    if (mistake != nullptr) return;
    Slot const& to = memory.slot[slot];
    need(to.bytes >= bytes_of(type) * elements, "a slot holds its value");
    for (int j = 0; j < memory.slots; ++j) {
      Slot const& other = memory.slot[j];
      if (other.offset < to.offset + to.bytes && to.offset < other.offset + other.bytes)
        content.is[j] = false;
    }
    content.is[slot] = true;
    content.parts[slot] = 1;
    content.written_over[slot] = false;
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
    backwards = true;
    for (int s = plan.size - 1; s >= 0 && mistake == nullptr; --s) {
      for (int r = 0; r <= s && mistake == nullptr; ++r)
        if (life.again[r] && life.again_before[r] == s) {
          forward(r);
          ++coverage.again;
          coverage.cheap += node(plan.head(plan.step[r])).recomputed == 0;
          coverage.two_lives += life.lives_twice(plan.tail(plan.step[r]));
          coverage.scans_again += scans(r);
        }
      if (mistake == nullptr) backward(s);
    }
    for (int i = 0; i < p.size && mistake == nullptr; ++i)
      if (is_integer(i))
        need(memory.gradient[i] < 0 && !life.has_gradient[i], "integers have no gradient");
      else if (node(i).role == Role::input && depends(i))
        need_gradient(i);
  }

  bool is_integer(int v) const { return node(v).type == ValueType::integer; }

  // The values that step s reads, those of sums inside included. A segment reads one value, however
  // often its layers do.
  template <class F> void for_sources(int s, F const& f) {
    Step const& step = plan.step[s];
    int read = -1;
    for (int k = step.first; k < step.first + step.count; ++k) {
      Node const& n = node(plan.order[k]);
      for (int i = 0; i < n.sources; ++i) {
        if (step_of(n.source[i]) == s) continue;
        if (step.kind == StepKind::segment) {
          need(read < 0 || read == n.source[i], "a segment reads one value");
          if (read == n.source[i]) continue;
          read = n.source[i];
        }
        f(n.source[i]);
      }
    }
  }

  void forward(int s) {
    int const v = plan.tail(plan.step[s]);
    auto const reads = [&] {
      for_sources(
          s, [&](int source) { need(holds(value(source)), "a step reads values that are there"); });
    };
    reads();
    for_sources(s, [&](int source) {
      need(mistake != nullptr || !content.written_over[value(source)],
           "a step reads values that no recurrence has written over");
    });
    if (mistake != nullptr) return;
    write(value(v), v);
    if (life.saves(s)) write(saved(s), v);
    if (normalizes_rows(s) && life.phase == Phase::training) {
      Node const& head = node(plan.head(plan.step[s]));
      write(kept(s, 0),
            head.ends_segment ? head.saved[0].elements : 2L * node(v).output.positions(),
            ValueType::accumulate);
      need(holds(value(v)), "statistics are beside the result");
      ++coverage.kept_statistics;
    }
    if (takes_maxima(s) && life.phase == Phase::training) {
      write(kept(s, 0), node(v).output.size(), ValueType::integer);
      need(holds(value(v)), "places of maxima are beside the result");
    } else if (attends(s) && life.phase == Phase::training) {
      write(kept(s, 0), node(v).output.positions(), ValueType::accumulate);
      need(holds(value(v)), "sums of exponentials are beside the result");
    } else if (scans(s) && life.phase == Phase::training) {
      Node const& head = node(plan.head(plan.step[s]));
      for (int k = 0; k < 2; ++k) write(kept(s, k), head.saved[k].elements, head.saved[k].type);
      need(holds(value(v)), "states are beside the result");
      content.written_over[value(head.source[0])] = true;
      ++coverage.kept_states;
    }
    reads();
    if (life.saves(s)) need(holds(value(v)), "a kept value is beside the result");
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

  // Whether the last layer of a segment is one on rows.
  bool ends_in_rows(Step const& step) const {
    SegmentRole last = SegmentRole::none;
    for (int k = step.first; k < step.first + step.count; ++k)
      if (plan.role[k] != SegmentRole::none) last = plan.role[k];
    return last != SegmentRole::convolution && last != SegmentRole::pooling;
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
    bool const adds = step.kind == StepKind::normalization_add,
               is_segment = step.kind == StepKind::segment;
    coverage.training_segments += is_segment;
    // What the kernels read: the input of the chain is kept, or made again from the sources.
    auto const reads = [&] {
      need(holds(memory.gradient[v]), "a step reads the gradient of its result");
      bool sources = false, result = head.rereads_result, keeps = false;
      if (is_segment) {
        sources = true;  // its values are computed again
        // The gradient of rows in front of a batch normalisation is computed from them.
        for (int r = s + 1; r < plan.size; ++r)
          result |= plan.step[r].kind == StepKind::segment &&
                    plan.role[plan.step[r].first] == SegmentRole::batch_normalization &&
                    node(plan.head(plan.step[r])).source[0] == v && ends_in_rows(step);
      } else
        switch (head.role) {
          case Role::contraction:
            sources = true;
            [[fallthrough]];
          case Role::add:
            keeps = of == Derivative::input;
            result = of == Derivative::output;
            break;
          case Role::normalization:
            sources = true;
            result = adds && of == Derivative::output;
            break;
          case Role::pooling:
          case Role::lookup:
          case Role::local_response:
          case Role::map:  // the input of the chain is made again
            sources = true;
            break;
          case Role::scan:
            need(holds(value(head.source[0])), "what a scan keeps is in its source");
            need(holds(kept(s, 0)) && holds(kept(s, 1)), "states are there");
            if (head.rereads_source)
              need(holds(value(head.source[head.sources - 1])), "lengths are there");
            break;
          case Role::product:
            sources = true;
            result = attends(s);
            break;
          case Role::row:
            sources = normalizes_rows(s);
            result = !sources;
            break;
          case Role::reduce:
            sources = head.rereads_source;
            break;
          case Role::unpooling:
            need(holds(value(head.source[1])), "the image is there");
            break;
          case Role::pointwise:
            sources = of == Derivative::input;
            result = of == Derivative::output;
            break;
          default:
            break;
        }
      if (normalizes_rows(s) || takes_maxima(s) || attends(s))
        need(holds(kept(s, 0)), "what is kept is there when it is read again");
      if (keeps) need(saved(s) >= 0 && holds(saved(s)), "a kept value is there");
      if (result) need(holds(value(v)), "a result is there when it is read again");
      if (sources)
        for (int i = 0; i < (attends(s) ? life.sources(s) : head.sources); ++i)
          need(holds(value(life.source(s, i))), "a source is there when it is read again");
      if (adds && of == Derivative::input)
        need(holds(value(life.source(s, 1))), "the added value is there");
    };
    need_gradient(v);
    reads();
    for (int i = 0; i < life.sources(s) && mistake == nullptr; ++i) {
      int const source = life.source(s, i), slot = memory.gradient[source];
      if (is_integer(source)) continue;
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
