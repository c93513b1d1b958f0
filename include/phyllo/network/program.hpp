// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/role.hpp>
#include <phyllo/core/window.hpp>
#include <phyllo/network/lower.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// One operation of a network: THE contract between the types in front and the plan, the memory
/// and the kernels behind. Plain numbers; nothing here knows a layer's type.
struct Node {
  Role role = Role::input;
  bool ok = true;          // the layer takes the shape that it is given
  bool oversized = false;  // more elements than 32 bits count
  bool alias = false;      // no work: the value is that of source[0] under another shape
  int sources = 0;
  int source[4] = {-1, -1, -1, -1};  // nodes whose values are read, aliases already followed
  Shape input;                       // of source[0]
  Shape output;
  Window window;    // contraction, pooling
  int weight = -1;  // elements from the start of the parameter arena; -1: none
  int bias = -1;
  int weight_count = 0;
  int bias_count = 0;
  int buffer = -1;  // elements from the start of the buffer arena: mean, then variance
  bool global_statistics = false;
  float momentum = 0;
  float epsilon = 0;
  bool random = false;
  Derivative derivative_of = Derivative::nothing;
  long flops = 0;  // of one sample, forward; a multiply-add counts two
};

/// Parameter tensors begin at multiples of this many elements (64 bytes of float), so that vector
/// and matrix units load them aligned.
inline constexpr int parameter_alignment = 16;
constexpr int aligned(int count) {
  return (count + parameter_alignment - 1) / parameter_alignment * parameter_alignment;
}

namespace detail {
// A list without layers has one that refuses, so that nothing has no elements.
template <class Leaves> struct SomeLeaves {
  using type = Leaves;
};
template <> struct SomeLeaves<TypeList<>> {
  using type = TypeList<NoLayer>;
};

// Whether a product of positive numbers is more than an int holds.
template <class... Number> constexpr bool exceeds_int(Number... number) {
  return (1.0 * ... * number) > 2147483647.0;
}
}  // namespace detail

/// The program of a list of parts: leaves and their nodes.
template <class... Parts> struct Program {
  using lowered = LowerSequence<Parts...>;
  using leaves = typename detail::SomeLeaves<typename lowered::leaves>::type;
  static constexpr int size = leaves::size;
  using Edges = Graph<size>;

  struct Nodes {
    Node node[size];
    int parameter_count = 0;              // as the field counts them
    int arena_size = 0;                   // elements, alignment included
    int buffer_size = 0;                  // elements (float)
    int output[Edges::max_outputs] = {};  // nodes, aliases already followed
    Shape output_shape[Edges::max_outputs] = {};
    int outputs = 0;
    int inputs = 0;
    long flops = 0;
  };

  static constexpr Edges edges = [] {
    Edges graph{};
    int const last = lowered::emit(graph, -1);
    if (graph.outputs == 0) graph.mark_output(nullptr, last);
    return graph;
  }();

  static constexpr Nodes make() {
    Nodes p{};
    infer(p, leaves{});
    flatten(p);
    place(p);
    for (int i = 0; i < edges.outputs; ++i) {
      p.output_shape[p.outputs] = p.node[edges.output[i]].output;
      p.output[p.outputs++] = value(p, edges.output[i]);
    }
    return p;
  }

 private:
  template <class... L> static constexpr void infer(Nodes& p, TypeList<L...>) {
    int i = 0;
    ((infer_node<L>(p, i), ++i), ...);
  }

  // Shape inference of one layer. A layer that refuses its input keeps that shape as its output,
  // so that one mistake gives one message.
  template <class L> static constexpr void infer_node(Nodes& p, int i) {
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
      if (detail::exceeds_int(n.window.size[0], n.window.size[1], n.window.size[2],
                              n.input.channels, n.output.channels))
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

  static constexpr bool is_oversized(Shape const& s) {
    return detail::exceeds_int(s.channels, s.spatial[0], s.spatial[1], s.spatial[2]);
  }
  static constexpr void refuse_size(Node& n) {
    n.ok = false;
    n.oversized = true;
  }

  static constexpr bool concatenate(Nodes const& p, Node& n) {
    int channels = 0;
    for (int s = 0; s < n.sources; ++s) {
      Shape const o = p.node[n.source[s]].output;
      if (!(o.with_channels(0) == n.input.with_channels(0))) return false;
      channels += o.channels;
    }
    n.output = n.input.with_channels(channels);
    return n.sources >= 2;
  }

  // A Flatten read by Linear layers only costs nothing: they become contractions whose window is
  // the whole unflattened value. Where channels or positions are one the two orders agree.
  static constexpr void flatten(Nodes& p) {
    for (int i = 0; i < size; ++i) {
      Node& n = p.node[i];
      if (n.role != Role::reshape || !n.ok) continue;
      bool is_output = false;
      for (int o = 0; o < edges.outputs; ++o) is_output |= edges.output[o] == i;
      // The caller's View of an output has one channel for each element: one channel's pixels are
      // then no such View.
      bool const same_order = n.input.positions() == 1 || (n.input.channels == 1 && !is_output);
      bool only_linear = !is_output;
      for (int j = i + 1; j < size; ++j)
        for (int s = 0; s < p.node[j].sources; ++s)
          if (p.node[j].source[s] == i) only_linear &= p.node[j].role == Role::contraction;
      n.alias = same_order || only_linear;
      if (same_order || !only_linear) continue;
      for (int j = i + 1; j < size; ++j)
        if (p.node[j].sources > 0 && p.node[j].source[0] == i) {
          p.node[j].input = n.input;
          for (int d = 0; d < 3; ++d) p.node[j].window.size[d] = n.input.spatial[d];
        }
    }
    for (int i = 0; i < size; ++i)
      for (int s = 0; s < p.node[i].sources; ++s)
        p.node[i].source[s] = value(p, p.node[i].source[s]);
  }

  // The node that computes a value, aliases followed.
  static constexpr int value(Nodes const& p, int i) {
    while (i >= 0 && p.node[i].alias) i = p.node[i].source[0];
    return i;
  }

  static constexpr void place(Nodes& p) {
    for (int i = 0; i < size; ++i) {
      Node& n = p.node[i];
      if (!n.ok) continue;
      if (detail::exceeds_int(1.0 * p.arena_size + n.weight_count + n.bias_count +
                              2 * parameter_alignment)) {
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

 public:
  static constexpr Nodes nodes = make();
};

}  // namespace phyllo::inline PHYLLO_ISA
