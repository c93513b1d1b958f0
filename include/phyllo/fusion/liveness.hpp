// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/plan.hpp>
#include <phyllo/fusion/recomputation.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// When each value of a plan is written and read for the last time.
///
/// Time 0 loads the inputs, time s + 1 runs step s, time S + 1 stores the outputs (or evaluates the
/// loss), then steps run backwards from the last one on, and in the end the inputs' gradients are
/// stored. Before the last step of a Recompute runs backwards, those of its steps whose numbers
/// are missing run forward again: a value inside has two lives, with a place for each. So has one
/// of Recomputation::cheap, before the first step of the backward pass that reads it.
template <int N> struct Liveness {
  static constexpr int most_sources = 5;
  Nodes<N> const* nodes;
  Plan<N> plan;
  Phase phase = Phase::inference;
  bool has_gradient[N] = {};  // of a value: something that the outputs depend on
  int source_count[N] = {};   // of a step
  int source_of[N][most_sources] = {};
  int backward_at[N] = {};   // when a step runs backwards
  bool again[N] = {};        // whether it runs forward twice
  int again_before[N] = {};  // before which step runs backwards
  int again_at[N] = {};      // and when
  int end = 0;

  constexpr Liveness(Nodes<N> const& n, Plan<N> const& p, Phase ph,
                     Recomputation recomputation = Recomputation::marked)
      : nodes(&n), plan(p), phase(ph) {
    for (int s = 0; s < plan.size; ++s) find_sources(s);
    for (int s = plan.size - 1; s >= 0; --s) {
      int const v = plan.tail(plan.step[s]);
      bool reached = is_output(v);
      for (int r = s + 1; r < plan.size; ++r)
        reached = reached || (reads(r, v) && has_gradient[plan.tail(plan.step[r])]);
      has_gradient[v] = reached;
    }
    for (int i = 0; i < nodes->size; ++i)
      if (is_given(node(i)) && node(i).type != ValueType::integer) {
        has_gradient[i] = is_output(i);
        for (int r = 0; r < plan.size; ++r)
          has_gradient[i] =
              has_gradient[i] || (reads(r, i) && has_gradient[plan.tail(plan.step[r])]);
      }
    if (phase == Phase::training) schedule(recomputation);
  }

  constexpr Node const& node(int i) const { return nodes->node[i]; }
  constexpr bool is_output(int v) const {
    for (int o = 0; o < nodes->outputs; ++o)
      if (nodes->output[o] == v) return true;
    return false;
  }
  constexpr int outputs_time() const { return plan.size + 1; }
  constexpr int backward_time(int s) const { return backward_at[s]; }
  constexpr int end_time() const { return end; }

  // The values that a step reads: those of its head, and behind them what later layers of it read
  // from outside: the other value of a sum, the values of an attention. A segment reads one.
  constexpr int sources(int s) const { return source_count[s]; }
  constexpr int source(int s, int i) const { return source_of[s][i]; }
  constexpr bool reads(int s, int v) const {
    for (int i = 0; i < sources(s); ++i)
      if (source(s, i) == v) return true;
    return false;
  }
  // Whether source i of step s is an earlier one as well, as the parts of one value are.
  constexpr bool reads_before(int s, int i) const {
    for (int j = 0; j < i; ++j)
      if (source(s, j) == source(s, i)) return true;
    return false;
  }
  // The step whose result is v; -1 for an input.
  constexpr int producer(int v) const {
    for (int s = 0; s < plan.size; ++s)
      if (plan.tail(plan.step[s]) == v) return s;
    return -1;
  }
  // Where the pointwise chain of a step begins, as an index into the order.
  constexpr int chain_first(Step const& s) const {
    int k = s.first;
    if (!facts_of(node(plan.order[k])).is_chain) ++k;
    if (s.kind == StepKind::folded_contraction || s.kind == StepKind::normalization_add ||
        s.kind == StepKind::attention)
      ++k;
    return k;
  }
  // The last layer of an attention is none of its chain.
  constexpr int chain_length(Step const& s) const {
    return s.first + s.count - chain_first(s) - (s.kind == StepKind::attention ? 1 : 0);
  }
  constexpr Derivative chain_derivative(Step const& s) const {
    int const k = chain_first(s), length = chain_length(s);
    if (length == 1) return node(plan.order[k]).derivative_of;
    for (int i = 0; i < length; ++i)
      if (node(plan.order[k + i]).derivative_of != Derivative::nothing) return Derivative::input;
    return Derivative::nothing;
  }
  constexpr bool is_segment(int s) const { return plan.step[s].kind == StepKind::segment; }
  // The segment that begins with a batch normalisation of the result of segment s, rows whose
  // gradient its backward pass computes tile by tile; -1: there is none.
  constexpr int normalized_by(int s) const {
    if (phase != Phase::training || !is_segment(s)) return -1;
    Step const& step = plan.step[s];
    int last = step.first + step.count - 1;
    while (plan.role[last] == SegmentRole::none) --last;
    if (plan.role[last] == SegmentRole::convolution || plan.role[last] == SegmentRole::pooling)
      return -1;
    for (int r = s + 1; r < plan.size; ++r)
      if (is_segment(r) && plan.role[plan.step[r].first] == SegmentRole::batch_normalization &&
          source(r, 0) == plan.tail(step))
        return r;
    return -1;
  }
  // Whether a step keeps the input of its chain beside its result.
  constexpr bool saves(int s) const {
    return phase == Phase::training && !is_segment(s) &&
           facts_of(node(plan.head(plan.step[s]))).saves_chain_input &&
           chain_derivative(plan.step[s]) == Derivative::input;
  }
  // Whether the backward pass of step s reads its source number i again.
  constexpr bool rereads_source(int s, int i) const {
    if (is_segment(s)) return true;  // its values are computed again from there
    Node const& head = node(plan.head(plan.step[s]));
    // The other value of a sum is read where the chain's input is computed again.
    if (i >= head.sources && plan.step[s].kind == StepKind::normalization_add)
      return chain_derivative(plan.step[s]) == Derivative::input;
    return facts_of(head).rereads_sources || (head.rereads_source && i >= head.first_reread) ||
           (head.overwrites_source && i == 0) ||
           (facts_of(head).is_chain && chain_derivative(plan.step[s]) == Derivative::input);
  }
  // Whether the gradient of v is written where v is.
  constexpr bool overwrites(int v) const {
    for (int s = 0; s < plan.size; ++s)
      if (!is_segment(s) && node(plan.head(plan.step[s])).overwrites_source && source(s, 0) == v)
        return true;
    return false;
  }
  constexpr bool rereads_result(int s) const {
    if (is_segment(s)) return normalized_by(s) >= 0;
    if (plan.step[s].kind == StepKind::attention) return true;
    Node const& head = node(plan.head(plan.step[s]));
    if (head.rereads_result) return true;
    bool const recomputes =
        facts_of(head).recomputes_chain && plan.step[s].kind != StepKind::normalization_add;
    return !recomputes && chain_derivative(plan.step[s]) == Derivative::output;
  }

  constexpr int last_use(int v) const {
    int last = 0;
    auto until = [&](int t) { last = t > last ? t : last; };
    int const s = producer(v);
    bool const once = !lives_twice(v);
    until(s + 1);
    if (is_output(v)) until(outputs_time());
    for (int r = 0; r < plan.size; ++r)
      if (reads(r, v)) until(r + 1);
    if (once && phase == Phase::training) until(last_backward_use(v));
    return last;
  }
  // The last time at which the backward pass reads or writes v; 0: never.
  constexpr int last_backward_use(int v) const {
    int last = 0;
    auto until = [&](int t) { last = t > last ? t : last; };
    for (int r = 0; r < plan.size; ++r)
      for (int i = 0; i < sources(r); ++i) {
        if (source(r, i) != v) continue;
        if (again[r]) until(again_at[r]);
        if (rereads_source(r, i)) until(backward_time(r));
      }
    int const s = producer(v);
    if (s >= 0 && again[s]) until(again_at[s]);
    if (s >= 0 && rereads_result(s)) until(backward_time(s));
    return last;
  }
  // Whether the value of v is given up after the forward pass and computed again.
  constexpr bool lives_twice(int v) const {
    int const s = producer(v);
    return s >= 0 && again[s] && (recomputed(s) == 0 || is_inside(v));
  }
  // Whether step r runs forward again just before step s runs backwards.
  constexpr bool runs_again_before(int r, int s) const { return again[r] && again_before[r] == s; }
  // The first step that does so; s + 1: there is none.
  constexpr int first_again(int s) const {
    int r = 0;
    while (r <= s && !runs_again_before(r, s)) ++r;
    return r;
  }
  // Whether the gradient of v is what the caller gives for one output: no step adds to it.
  constexpr bool is_given_whole(int v) const {
    int outputs = 0;
    for (int o = 0; o < nodes->outputs; ++o) outputs += nodes->output[o] == v;
    bool read = is_given(node(v));
    for (int r = 0; r < plan.size; ++r)
      read = read || (reads(r, v) && has_gradient[plan.tail(plan.step[r])]);
    return outputs == 1 && !read;
  }
  // When the gradient of v is first written: by the last of its readers.
  constexpr int gradient_begin(int v) const {
    if (is_output(v)) return outputs_time();
    for (int r = plan.size - 1; r >= 0; --r)
      if (reads(r, v) && has_gradient[plan.tail(plan.step[r])]) return backward_time(r);
    return end_time();
  }
  constexpr int gradient_end(int v) const {
    int const s = producer(v);
    return s < 0 ? end_time() : backward_time(s);
  }
  // Numbers of a sample that step s keeps for its backward pass beside values, as its k-th; 0:
  // none.
  constexpr int kept(int s, int k) const {
    if (phase != Phase::training || is_segment(s)) return 0;
    SavedValue const& saved = node(plan.head(plan.step[s])).saved[k];
    return saved.by_fused_steps && plan.step[s].kind == StepKind::single ? 0 : saved.elements;
  }
  // Whether step s, writing to the gradient of its source number i, finds a sum begun.
  constexpr bool accumulates(int s, int i) const {
    int const v = source(s, i);
    if (is_output(v)) return true;
    if (reads_before(s, i)) return true;
    for (int r = s + 1; r < plan.size; ++r)
      if (reads(r, v) && has_gradient[plan.tail(plan.step[r])]) return true;
    return false;
  }

 private:
  // The Recompute that all of a step is in; 0: none.
  constexpr int recomputed(int s) const {
    Step const& step = plan.step[s];
    int const of = node(plan.head(step)).recomputed;
    for (int k = step.first; k < step.first + step.count; ++k)
      if (node(plan.order[k]).recomputed != of) return 0;
    return of;
  }
  // Whether v is computed in a Recompute, and only steps of the same one read it.
  constexpr bool is_inside(int v) const {
    int const s = producer(v), of = s < 0 ? 0 : recomputed(s);
    bool inside = of > 0 && !is_output(v);
    for (int r = s + 1; r < plan.size; ++r)
      inside = inside && (!reads(r, v) || recomputed(r) == of);
    return inside;
  }
  // Whether step s can run again. Where it writes over its source, that has to be computed again
  // as well.
  constexpr bool can_run_again(int s) const {
    if (recomputed(s) == 0) return false;
    if (is_segment(s) || !node(plan.head(plan.step[s])).overwrites_source) return true;
    int const source = source_of[s][0];
    return is_inside(source) && can_run_again(producer(source));
  }
  constexpr bool needs_again(int s) const {
    int const v = plan.tail(plan.step[s]);
    if (!has_gradient[v] || !can_run_again(s)) return false;
    bool needs = saves(s);
    for (int k = 0; k < Node::most_saved; ++k) needs = needs || kept(s, k) > 0;
    return needs || (is_inside(v) && (rereads_result(s) || is_reread(v)));
  }
  // Whether the backward pass reads v as a source of a step, or of one that runs again.
  constexpr bool is_reread(int v) const {
    for (int r = 0; r < plan.size; ++r)
      for (int i = 0; i < sources(r); ++i)
        if (source(r, i) == v && (again[r] || rereads_source(r, i))) return true;
    return false;
  }
  constexpr int last_recomputed(int s) const {
    int last = s;
    while (last + 1 < plan.size && recomputed(last + 1) == recomputed(s)) ++last;
    return last;
  }
  // Whether v stays from the forward to the backward pass, because that reads it.
  constexpr bool is_kept(int v) const {
    if (lives_twice(v)) return false;
    int const p = producer(v);
    return (p >= 0 && (again[p] || rereads_result(p))) || is_reread(v);
  }
  constexpr bool has_one_reader(int v) const {
    int count = 0;
    for (int r = 0; r < plan.size; ++r)
      for (int i = 0; i < sources(r); ++i) count += source(r, i) == v;
    return count == 1 && !is_output(v);
  }
  // Whether a few operations on what is kept give the value of step s, whose sources without
  // another reader may be computed again with it.
  constexpr bool is_cheap(int s) const {
    if (again[s] || recomputed(s) != 0 || is_segment(s) ||
        plan.step[s].kind == StepKind::attention ||
        !facts_of(node(plan.head(plan.step[s]))).is_cheap)
      return false;
    for (int i = 0; i < sources(s); ++i) {
      int const v = source(s, i), p = producer(v);
      if (!is_kept(v) && (p < 0 || !has_one_reader(v) || !is_cheap(p))) return false;
    }
    return true;
  }
  // The first step of the backward pass that reads the value of step s, if it is one to compute
  // again then; -1: it stays.
  constexpr int first_rereader(int s) const {
    int const v = plan.tail(plan.step[s]);
    if (!has_gradient[v] || is_output(v) || overwrites(v)) return -1;
    int last = -1;
    for (int r = s + 1; r < plan.size; ++r)
      for (int i = 0; i < sources(r); ++i) {
        if (source(r, i) != v) continue;
        if (again[r]) return -1;
        if (rereads_source(r, i)) last = r;
      }
    return last;
  }
  constexpr void run_again(int s, int before) {
    for (int i = 0; i < sources(s); ++i)
      if (!is_kept(source(s, i))) run_again(producer(source(s, i)), before);
    again[s] = true;
    again_before[s] = before;
  }
  constexpr void schedule(Recomputation recomputation) {
    for (int s = plan.size - 1; s >= 0; --s) {
      again[s] = needs_again(s);
      if (again[s]) again_before[s] = last_recomputed(s);
    }
    if (recomputation == Recomputation::cheap)
      for (int s = 0; s < plan.size; ++s)
        if (int const r = first_rereader(s); r >= 0 && is_cheap(s)) run_again(s, r);
    int time = outputs_time();
    for (int s = plan.size - 1; s >= 0; --s) {
      for (int r = first_again(s); r <= s; ++r)
        if (runs_again_before(r, s)) again_at[r] = ++time;
      backward_at[s] = ++time;
    }
    end = time + 1;
  }

  constexpr void find_sources(int s) {
    Step const& step = plan.step[s];
    int& count = source_count[s];
    for (int k = step.first; k < step.first + step.count; ++k) {
      Node const& n = node(plan.order[k]);
      for (int i = 0; i < n.sources; ++i) {
        bool inside = false;
        for (int j = step.first; j < k; ++j) inside = inside || plan.order[j] == n.source[i];
        if (!inside) source_of[s][count++] = n.source[i];
      }
      if (step.kind == StepKind::segment) return;
    }
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
