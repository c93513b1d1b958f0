// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/kind/kinds.hpp>
#include <phyllo/network/nodes.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Parameter tensors begin at multiples of this many elements (64 bytes of float), so that vector
/// and matrix units load them aligned.
inline constexpr int parameter_alignment = 16;
constexpr int aligned(int count) {
  return (count + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

namespace detail {

constexpr bool is_oversized(Shape const& s) {
  return exceeds_int(s.channels, s.spatial[0], s.spatial[1], s.spatial[2]);
}
constexpr void refuse_size(Node& n) {
  n.ok = false;
  n.oversized = true;
}

// Whether source number s of a layer are integers.
template <class L> constexpr bool reads_integers(int s) {
  if constexpr (requires { Kind<L::role>::template reads_integers<L>(s); })
    return Kind<L::role>::template reads_integers<L>(s);
  else
    return Kind<L::role>::facts.reads_integers || s == Kind<L::role>::facts.mask_source;
}

// Shape inference of one layer. A layer that refuses its input keeps that shape as its output,
// so that one mistake gives one message.
template <class L, int N> constexpr void infer_node(Nodes<N>& p, Graph<N> const& edges, int i) {
  using OfKind = Kind<L::role>;
  Node& n = p.node[i];
  n.role = L::role;
  n.sources = edges.source_count[i];
  n.recomputed = edges.recomputed[i];
  n.ok = n.sources > 0;
  for (int s = 0; s < n.sources; ++s) {
    n.source[s] = edges.sources[i][s];
    if (n.source[s] < 0 && !OfKind::facts.is_given) n.ok = false;
  }
  if (!n.ok) return;
  Shape sources[4];
  bool mismatched = false;
  if (OfKind::facts.is_given) {
    n.sources = 0, ++p.inputs;
  } else {
    for (int s = 0; s < n.sources; ++s) {
      Node const& source = p.node[n.source[s]];
      sources[s] = source.output;
      n.source_shape[s] = source.output;
      bool const wants = reads_integers<L>(s);
      if (n.mistyped || (source.type == ValueType::integer) == wants) continue;
      if (s == OfKind::facts.mask_source) {  // as one of other extents is refused
        mismatched = true;
        continue;
      }
      n.mistyped = true;
      n.lacks_integers = wants;
    }
    n.input = sources[0];
  }
  n.ok = !n.mistyped && !mismatched && L::accepts(n.input);
  n.output = n.ok ? L::output(n.input) : n.input;
  if constexpr (requires { OfKind::template join<L>(n, sources); })
    n.ok = n.ok && OfKind::template join<L>(n, sources);
  if (n.ok && is_oversized(n.output)) {
    refuse_size(n);
    n.output = n.input;
  }
  if (n.ok) OfKind::template describe<L>(n, sources);
  // The layer's own names in files, where they are not those of the kind.
  if constexpr (requires { L::name_parameters(n); })
    if (n.ok) L::name_parameters(n);
}

// The node that computes a value, aliases followed.
template <int N> constexpr int value(Nodes<N> const& p, int i) {
  while (i >= 0 && p.node[i].alias) i = p.node[i].source[0];
  return i;
}

// Whether every reader of node i may read what is in front of it, and no output of the network is
// its value.
template <int N> constexpr bool feeds_windows(Nodes<N> const& p, Graph<N> const& edges, int i) {
  for (int o = 0; o < edges.outputs; ++o)
    if (edges.output[o] == i) return false;
  for (int j = i + 1; j < p.size; ++j)
    for (int s = 0; s < p.node[j].sources; ++s)
      if (p.node[j].source[s] == i && !facts_of(p.node[j]).reads_unflattened) return false;
  return true;
}

// A Flatten that only Linear layers read costs nothing: they become contractions whose window is
// the whole unflattened value, and read the extents that it has in front of the Flatten. Kinds make
// nodes aliases whose value is stored as their source, maybe under other extents.
template <int N> constexpr void flatten(Nodes<N>& p, Graph<N> const& edges) {
  for (int i = 0; i < p.size; ++i) {
    Node& n = p.node[i];
    if (!n.flattens || !n.ok || n.input.positions() == 1 || !feeds_windows(p, edges, i)) continue;
    n.alias = true;
    for (int j = i + 1; j < p.size; ++j) {
      if (p.node[j].sources == 0 || p.node[j].source[0] != i) continue;
      read_unflattened(p.node[j], n.input);
      p.node[j].source_shape[0] = n.input;
    }
  }
  for (int i = 0; i < p.size; ++i)
    for (int s = 0; s < p.node[i].sources; ++s) p.node[i].source[s] = value(p, p.node[i].source[s]);
}

// Running statistics come before constants, so that training restores and averages one range.
template <int N> constexpr void place_buffers(Nodes<N>& p, bool written_by_steps) {
  for (int i = 0; i < p.size; ++i) {
    Node& n = p.node[i];
    if (!n.ok || n.buffer_count() == 0 || facts_of(n).waits_for_batch != written_by_steps) continue;
    n.buffer = p.buffer_size;
    p.buffer_size += n.buffer_count();
  }
  if (written_by_steps) p.statistics_size = p.buffer_size;
}

template <int N> constexpr void place(Nodes<N>& p) {
  for (int i = 0; i < p.size; ++i) {
    Node& n = p.node[i];
    if (!n.ok) continue;
    long const count = n.parameter_count();
    if (exceeds_int(1.0 * p.arena_size + double(count) +
                    Node::most_parameters * parameter_alignment)) {
      refuse_size(n);
      continue;
    }
    for (ParameterTensor& t : n.parameter)
      if (t.count > 0) t.offset = p.arena_size, p.arena_size += aligned(t.count);
    p.parameter_count += int(count);
    if (n.batch_state_count > 0)
      n.batch_state = p.batch_state_size, p.batch_state_size += n.batch_state_count;
    p.flops += n.flops;
  }
  place_buffers(p, true);
  place_buffers(p, false);
}

// What follows the shapes: aliases, places of parameters, outputs.
template <int N> constexpr void complete(Nodes<N>& p, Graph<N> const& edges) {
  flatten(p, edges);
  place(p);
  for (int i = 0; i < edges.outputs; ++i) {
    p.output_shape[p.outputs] = p.node[edges.output[i]].output;
    p.output[p.outputs++] = value(p, edges.output[i]);
  }
}

}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
