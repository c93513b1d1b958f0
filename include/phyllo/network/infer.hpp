// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/nodes.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// Parameter tensors begin at multiples of this many elements (64 bytes of float), so that vector
/// and matrix units load them aligned.
inline constexpr int parameter_alignment = 16;
constexpr int aligned(int count) {
  return (count + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

namespace detail {

// Whether a product of positive numbers is more than an int holds.
template <class... Number> constexpr bool exceeds_int(Number... number) {
  return (1.0 * ... * number) > 2147483647.0;
}

constexpr bool is_oversized(Shape const& s) {
  return exceeds_int(s.channels, s.spatial[0], s.spatial[1], s.spatial[2]);
}
constexpr void refuse_size(Node& n) {
  n.ok = false;
  n.oversized = true;
}

template <int N> constexpr bool concatenate(Nodes<N> const& p, Node& n) {
  int channels = 0;
  for (int s = 0; s < n.sources; ++s) {
    Shape const o = p.node[n.source[s]].output;
    if (!(o.with_channels(0) == n.input.with_channels(0))) return false;
    channels += o.channels;
  }
  n.output = n.input.with_channels(channels);
  return n.sources >= 2;
}

// Shape inference of one layer. A layer that refuses its input keeps that shape as its output,
// so that one mistake gives one message.
template <class L, int N> constexpr void infer_node(Nodes<N>& p, Graph<N> const& edges, int i) {
  Node& n = p.node[i];
  n.role = L::role;
  n.sources = edges.source_count[i];
  n.ok = n.sources > 0;
  for (int s = 0; s < n.sources; ++s) {
    n.source[s] = edges.sources[i][s];
    if (n.source[s] < 0 && n.role != Role::input) n.ok = false;
  }
  if (!n.ok) return;
  if (n.role == Role::input)
    n.sources = 0, ++p.inputs;
  else
    n.input = p.node[n.source[0]].output;
  n.ok = L::accepts(n.input);
  n.output = n.ok ? L::output(n.input) : n.input;
  if (n.role == Role::add) n.ok = n.sources == 2 && p.node[n.source[1]].output == n.input;
  if (n.role == Role::concatenation) n.ok = concatenate(p, n);
  if (n.ok && is_oversized(n.output)) {
    refuse_size(n);
    n.output = n.input;
  }
  if (!n.ok) return;
  if constexpr (L::role == Role::contraction) {
    n.window = L::window;
    if (exceeds_int(n.window.size[0], n.window.size[1], n.window.size[2], n.input.channels,
                    n.output.channels))
      return refuse_size(n);
    n.weight_count = n.window.taps() * n.input.channels * n.output.channels;
    n.bias_count = L::has_bias ? n.output.channels : 0;
    n.flops = 2L * n.weight_count * n.output.positions() + L::has_bias * n.output.size();
  } else if constexpr (L::role == Role::normalization) {
    n.weight_count = n.bias_count = n.input.channels;
    n.global_statistics = L::global_statistics;
    n.momentum = L::momentum;
    n.epsilon = L::epsilon;
    n.flops = 2L * n.output.size();
  } else if constexpr (L::role == Role::pooling) {
    n.window = L::window_on(n.input);
    n.flops = long(n.window.taps()) * n.output.size();
  } else if constexpr (L::role == Role::pointwise) {
    n.derivative_of = L::derivative_of;
    n.random = requires { requires L::random; };
    n.flops = n.output.size();
  } else if constexpr (L::role == Role::softmax) {
    n.flops = 4L * n.output.size();
  } else if constexpr (L::role == Role::add) {
    n.flops = n.output.size();
  }
}

// The node that computes a value, aliases followed.
template <int N> constexpr int value(Nodes<N> const& p, int i) {
  while (i >= 0 && p.node[i].alias) i = p.node[i].source[0];
  return i;
}

// Whether every reader of node i is a contraction, and no output of the network is its value.
template <int N>
constexpr bool feeds_contractions(Nodes<N> const& p, Graph<N> const& edges, int i) {
  for (int o = 0; o < edges.outputs; ++o)
    if (edges.output[o] == i) return false;
  for (int j = i + 1; j < p.size; ++j)
    for (int s = 0; s < p.node[j].sources; ++s)
      if (p.node[j].source[s] == i && p.node[j].role != Role::contraction) return false;
  return true;
}

// A Flatten of one position is another rank of the same numbers. A Flatten that only Linear layers
// read costs nothing either: they become contractions whose window is the whole unflattened value.
// Either way a node reads the extents that the value is stored with. Any other Flatten is work.
template <int N> constexpr void flatten(Nodes<N>& p, Graph<N> const& edges) {
  for (int i = 0; i < p.size; ++i) {
    Node& n = p.node[i];
    if (n.role != Role::reshape || !n.ok) continue;
    bool const one_position = n.input.positions() == 1;
    n.alias = one_position || feeds_contractions(p, edges, i);
    if (one_position || !n.alias) continue;
    for (int j = i + 1; j < p.size; ++j)
      if (p.node[j].sources > 0 && p.node[j].source[0] == i) {
        p.node[j].input = n.input;
        for (int d = 0; d < 3; ++d) p.node[j].window.size[d] = n.input.spatial[d];
      }
  }
  for (int i = 0; i < p.size; ++i)
    for (int s = 0; s < p.node[i].sources; ++s) p.node[i].source[s] = value(p, p.node[i].source[s]);
}

template <int N> constexpr void place(Nodes<N>& p) {
  for (int i = 0; i < p.size; ++i) {
    Node& n = p.node[i];
    if (!n.ok) continue;
    if (exceeds_int(1.0 * p.arena_size + n.weight_count + n.bias_count + 2 * parameter_alignment)) {
      refuse_size(n);
      continue;
    }
    if (n.weight_count > 0) n.weight = p.arena_size, p.arena_size += aligned(n.weight_count);
    if (n.bias_count > 0) n.bias = p.arena_size, p.arena_size += aligned(n.bias_count);
    p.parameter_count += n.weight_count + n.bias_count;
    if (n.role == Role::normalization)
      n.buffer = p.buffer_size, p.buffer_size += 2 * n.input.channels;
    p.flops += n.flops;
  }
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
