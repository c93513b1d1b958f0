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
  Slot slot[3 * N] = {};
  int slots = 0;
  int value[N] = {};     // slot of the value of a node; -1: none
  int saved[N] = {};     // slot of the chain input that a step keeps
  int gradient[N] = {};  // slot of the gradient of a value
  long bytes = 0;        // arena, one sample
  long bytes_without_reuse = 0;

  constexpr int add(long size, int first, int last) {
    slot[slots] = {(size + slot_alignment - 1) / slot_alignment * slot_alignment, 0, first, last};
    return slots++;
  }
};

namespace detail {

// Largest slot first, each at the lowest offset that is free during its lifetime.
template <int N> constexpr void place(Memory<N>& m) {
  int by_size[3 * N] = {};
  for (int i = 0; i < m.slots; ++i) {
    int at = i;
    while (at > 0 && m.slot[by_size[at - 1]].bytes < m.slot[i].bytes) {
      by_size[at] = by_size[at - 1];
      --at;
    }
    by_size[at] = i;
    m.bytes_without_reuse += m.slot[i].bytes;
  }
  int placed[3 * N] = {};  // in rising order of offset
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

/// Memory of a plan for elements of `element_size` bytes. A whole training step in one pass keeps
/// its input only.
template <int N> constexpr Memory<N> make_memory(Liveness<N> const& life, int element_size) {
  Memory<N> m{};
  for (int i = 0; i < N; ++i) m.value[i] = m.saved[i] = m.gradient[i] = -1;
  auto add_value = [&](int v) {
    long const size = long(element_size) * life.node(v).output.size();
    m.value[v] = m.add(size, life.producer(v) + 1, life.last_use(v));
    if (life.phase == Phase::training && life.has_gradient[v])
      m.gradient[v] = m.add(size, life.gradient_begin(v), life.gradient_end(v));
  };
  for (int i = 0; i < life.nodes->size; ++i)
    if (life.node(i).role == Role::input) add_value(i);
  for (int s = 0; s < life.plan.size; ++s) {
    int const v = life.plan.tail(life.plan.step[s]);
    add_value(v);
    if (life.saves(s))
      m.saved[s] =
          m.add(long(element_size) * life.node(v).output.size(), s + 1, life.backward_time(s));
  }
  detail::place(m);
  return m;
}

}  // namespace phyllo::inline PHYLLO_ISA
