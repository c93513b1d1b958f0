// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/infer.hpp>
#include <phyllo/network/lower.hpp>
#include <phyllo/network/lower_attention.hpp>
#include <phyllo/network/lower_graph.hpp>
#include <phyllo/network/lower_recurrent.hpp>
#include <phyllo/network/lower_spectral.hpp>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {

// A list without layers has one that refuses, so that nothing has no elements.
template <class Leaves> struct SomeLeaves {
  using type = Leaves;
};
template <> struct SomeLeaves<TypeList<>> {
  using type = TypeList<NoLayer>;
};

}  // namespace detail

/// The program of a list of parts: leaves and their nodes.
template <class... Parts> struct Program {
  using lowered = LowerSequence<Parts...>;
  using leaves = typename detail::SomeLeaves<typename lowered::leaves>::type;
  static constexpr int size = leaves::size;
  using Edges = Graph<size>;

  static constexpr Edges edges = [] {
    Edges graph{};
    int const last = lowered::append_to(graph, -1);
    if (graph.outputs == 0) graph.mark_output(nullptr, last);
    return graph;
  }();

 private:
  template <class... L> static constexpr Nodes<size> make(TypeList<L...>) {
    Nodes<size> p{};
    int i = 0;
    (detail::infer_node<L>(p, edges, i++), ...);
    detail::complete(p, edges);
    return p;
  }

 public:
  static constexpr Nodes<size> nodes = make(leaves{});
};

}  // namespace phyllo::inline PHYLLO_ISA
