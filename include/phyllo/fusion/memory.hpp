// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fusion/liveness.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Places in the activation arena: bytes of one sample, to be multiplied by the batch. A multiple
/// of 64 keeps every slot aligned for any batch.
inline constexpr long slot_alignment = 64;

struct Slot {
  long bytes = 0;
  long offset = 0;
  int first = 0;  // time of the first write
  int last = 0;   // time of the last read
};

/// Offsets of all values, saved values and gradients of a plan in one arena: two slots share bytes
/// only if their lifetimes do not overlap.
template <int N> struct Memory {
  static constexpr int most = (5 + 2 * Node::most_saved) * N;
  Slot slot[most] = {};
  int slots = 0;
  int value[N] = {};                   // slot of the value of a node; -1: none
  int saved[N] = {};                   // slot of the chain input that a step keeps
  int kept[N][Node::most_saved] = {};  // slots of what the head of a step keeps besides
  int gradient[N] = {};                // slot of the gradient of a value
  // The same in the backward pass, where what a Recompute computes again has slots of its own.
  int value_again[N] = {};
  int saved_again[N] = {};
  int kept_again[N][Node::most_saved] = {};
  long bytes = 0;  // arena, one sample
  long bytes_without_reuse = 0;
  long bytes_kept = 0;  // from the forward to the backward pass

  constexpr int add(long size, int first, int last) {
    slot[slots] = {(size + slot_alignment - 1) / slot_alignment * slot_alignment, 0, first, last};
    return slots++;
  }
};

namespace detail {

// Largest slot first, each at the lowest offset that is free during its lifetime.
template <int N> constexpr void place(Memory<N>& m) {
  int by_size[Memory<N>::most] = {};
  for (int i = 0; i < m.slots; ++i) {
    int at = i;
    while (at > 0 && m.slot[by_size[at - 1]].bytes < m.slot[i].bytes) {
      by_size[at] = by_size[at - 1];
      --at;
    }
    by_size[at] = i;
    m.bytes_without_reuse += m.slot[i].bytes;
  }
  int placed[Memory<N>::most] = {};  // in rising order of offset
  int count = 0;
  for (int k = 0; k < m.slots; ++k) {
    Slot& s = m.slot[by_size[k]];
    for (int j = 0; j < count; ++j) {
      Slot const& other = m.slot[placed[j]];
      if (other.last < s.first || s.last < other.first) continue;
      if (s.offset + s.bytes <= other.offset) break;
      if (other.offset + other.bytes > s.offset) s.offset = other.offset + other.bytes;
    }
    int at = count++;
    while (at > 0 && m.slot[placed[at - 1]].offset > s.offset) {
      placed[at] = placed[at - 1];
      --at;
    }
    placed[at] = by_size[k];
    if (s.offset + s.bytes > m.bytes) m.bytes = s.offset + s.bytes;
  }
}

}  // namespace detail

/// Memory of a plan for values of `storage` bytes an element and sums of `accumulate` bytes. A
/// whole training step in one pass keeps its input only.
template <int N>
constexpr Memory<N> make_memory(Liveness<N> const& life, int storage, int accumulate) {
  Memory<N> m{};
  for (int i = 0; i < N; ++i) {
    m.value[i] = m.saved[i] = m.gradient[i] = m.value_again[i] = m.saved_again[i] = -1;
    for (int k = 0; k < Node::most_saved; ++k) m.kept[i][k] = m.kept_again[i][k] = -1;
  }
  auto const bytes = [&](long elements, ValueType type) {
    return elements * element_bytes(type, storage, accumulate);
  };
  auto add_value = [&](int v) {
    long const size = bytes(life.node(v).output.size(), life.node(v).type);
    bool const has_gradient = life.phase == Phase::training && life.has_gradient[v];
    bool const shares = has_gradient && life.overwrites(v), twice = life.lives_twice(v);
    int const s = life.producer(v);
    m.value[v] = m.value_again[v] =
        m.add(size, s + 1, shares && !twice ? life.gradient_end(v) : life.last_use(v));
    if (twice)
      m.value_again[v] =
          m.add(size, life.again_at[s], shares ? life.gradient_end(v) : life.last_backward_use(v));
    if (has_gradient)
      m.gradient[v] =
          shares ? m.value_again[v] : m.add(size, life.gradient_begin(v), life.gradient_end(v));
  };
  // What step s keeps for its backward pass: while it runs, where it runs again.
  auto add_kept = [&](int s, long size, int& slot, int& slot_again) {
    bool const twice = life.again[s];
    slot = slot_again = m.add(size, s + 1, twice ? s + 1 : life.backward_time(s));
    if (twice) slot_again = m.add(size, life.again_at[s], life.backward_time(s));
  };
  for (int i = 0; i < life.nodes->size; ++i)
    if (is_given(life.node(i))) add_value(i);
  for (int s = 0; s < life.plan.size; ++s) {
    int const v = life.plan.tail(life.plan.step[s]);
    add_value(v);
    if (life.saves(s))
      add_kept(s, bytes(life.node(v).output.size(), ValueType::storage), m.saved[s],
               m.saved_again[s]);
    Node const& head = life.node(life.plan.head(life.plan.step[s]));
    for (int k = 0; k < Node::most_saved; ++k)
      if (life.kept(s, k) > 0)
        add_kept(s, bytes(life.kept(s, k), head.saved[k].type), m.kept[s][k], m.kept_again[s][k]);
  }
  auto const keep = [&](int place) {
    if (place < 0) return;
    Slot const& s = m.slot[place];
    if (s.first < life.outputs_time() && s.last > life.outputs_time()) m.bytes_kept += s.bytes;
  };
  for (int i = 0; i < N; ++i) {
    keep(m.value[i]);
    keep(m.saved[i]);
    for (int const place : m.kept[i]) keep(place);
  }
  detail::place(m);
  return m;
}

}  // namespace phyllo::inline PHYLLO_ISA
