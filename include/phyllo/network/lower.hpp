// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/block/branch.hpp>
#include <phyllo/block/recompute.hpp>
#include <phyllo/block/repeat.hpp>
#include <phyllo/block/residual.hpp>
#include <phyllo/block/skip.hpp>
#include <phyllo/core/refusal.hpp>
#include <phyllo/core/role.hpp>
#include <phyllo/core/shape.hpp>
#include <phyllo/core/type_list.hpp>
#include <phyllo/layer/add.hpp>
#include <phyllo/layer/concat.hpp>
#include <phyllo/layer/input.hpp>
#include <phyllo/layer/integer_input.hpp>
#include <phyllo/layer/multiply.hpp>
#include <phyllo/network/graph.hpp>

#include <concepts>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

namespace detail {
template <class Part>
concept IsLayer = requires(Shape s) {
  { Part::name } -> std::convertible_to<char const*>;
  { Part::role } -> std::convertible_to<Role>;
  { Part::accepts(s) } -> std::convertible_to<bool>;
  { Part::output(s) } -> std::convertible_to<Shape>;
};

template <class Part> struct LeafOf {
  using type = NotALayer<Part>;
};
template <IsLayer Part> struct LeafOf<Part> {
  using type = Part;
};
// Pointwise and Map refuse a layer that lacks a formula.
template <IsLayer Part>
  requires requires { typename Part::template Finished<Part>; }
struct LeafOf<Part> {
  using type = typename Part::template Finished<Part>;
};
}  // namespace detail

/// How a part of a network becomes leaves (layers) and edges; blocks vanish here.
///
/// state    leaves: TypeList of layers · append_to: appends their edges, returns the new current
///          value · name_leaves: the path of each leaf, as torch.nn.Sequential numbers it
template <class Part> struct Lower {
  static constexpr bool numbered = true;
  using leaves = TypeList<typename detail::LeafOf<Part>::type>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    return graph.append(current);
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.push_back(path);
  }
};

/// Parts one after the other.
template <class... Parts> struct LowerSequence {
  static constexpr bool numbered = true;
  using leaves = Join<typename Lower<Parts>::leaves...>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    ((current = Lower<Parts>::append_to(graph, current)), ...);
    return current;
  }
  // Inputs, saves and outputs are no modules elsewhere: they take no number.
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    [[maybe_unused]] int i = 0;
    ((Lower<Parts>::name_leaves(names, path + (path.empty() ? "" : ".") + std::to_string(i)),
      i += Lower<Parts>::numbered),
     ...);
  }
};

/// Inputs are no modules elsewhere.
template <class Layer> struct LowerInput {
  static constexpr bool numbered = false;
  using leaves = TypeList<Layer>;
  template <class G> static constexpr int append_to(G& graph, int) {
    int const value = graph.append(-1);
    if constexpr (requires { typename Layer::tag; })
      graph.save(tag_id<typename Layer::tag>, value, true);
    return value;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    names.push_back(path);
  }
};
template <int... E> struct Lower<Input<E...>> : LowerInput<Input<E...>> {};
template <class Tag, int... E>
struct Lower<NamedInput<Tag, E...>> : LowerInput<NamedInput<Tag, E...>> {};
template <int... E> struct Lower<IntegerInput<E...>> : LowerInput<IntegerInput<E...>> {};
template <class Tag, int... E>
struct Lower<NamedIntegerInput<Tag, E...>> : LowerInput<NamedIntegerInput<Tag, E...>> {};

template <class... M, class... S> struct Lower<Residual<Main<M...>, Shortcut<S...>>> {
  static constexpr bool numbered = true;
  using main = LowerSequence<M...>;
  using shortcut = LowerSequence<S...>;
  using leaves = Join<typename main::leaves, typename shortcut::leaves, TypeList<Add>>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    int const a = main::append_to(graph, current);
    int const b = shortcut::append_to(graph, current);
    return graph.append(a, b);
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    main::name_leaves(names, path + ".main");
    shortcut::name_leaves(names, path + ".shortcut");
    names.push_back(path + ".add");
  }
};
template <class... M>
struct Lower<Residual<Main<M...>>> : Lower<Residual<Main<M...>, Shortcut<>>> {};
template <class... M> struct Lower<Residual<M...>> : Lower<Residual<Main<M...>, Shortcut<>>> {};

template <class... Parts> struct Lower<Path<Parts...>> : LowerSequence<Parts...> {};

template <class... Paths>
  requires(sizeof...(Paths) >= 2 && sizeof...(Paths) <= 4)
struct Lower<Branch<Paths...>> {
  static constexpr bool numbered = true;
  using leaves = Join<typename Lower<Paths>::leaves..., TypeList<Concat>>;
  template <class G> static constexpr int append_to(G& graph, int current) {
    int const ends[] = {Lower<Paths>::append_to(graph, current)...};
    graph.append(ends[0]);
    for (unsigned i = 1; i < sizeof...(Paths); ++i) graph.add_source(ends[i]);
    return graph.size - 1;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    int i = 0;
    (Lower<Paths>::name_leaves(names, path + "." + std::to_string(i++)), ...);
    names.push_back(path + ".concat");
  }
};

namespace detail {
template <int N, class Leaves> struct Repeated {
  using half = typename Repeated<N / 2, Leaves>::type;
  using type = Join<half, half, typename Repeated<N % 2, Leaves>::type>;
};
template <class Leaves> struct Repeated<0, Leaves> {
  using type = TypeList<>;
};
template <class Leaves> struct Repeated<1, Leaves> {
  using type = Leaves;
};
}  // namespace detail

template <int Count, class... Parts>
  requires(Count > 0)
struct Lower<Repeat<Count, Parts...>> {
  static constexpr bool numbered = true;
  using once = LowerSequence<Parts...>;
  using leaves = typename detail::Repeated<Count, typename once::leaves>::type;
  template <class G> static constexpr int append_to(G& graph, int current) {
    for (int i = 0; i < Count; ++i) current = once::append_to(graph, current);
    return current;
  }
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    for (int i = 0; i < Count; ++i) once::name_leaves(names, path + "." + std::to_string(i));
  }
};

/// One part keeps its names; several are as torch.nn.Sequential names them.
template <class... Parts> struct LowerRecompute : LowerSequence<Parts...> {
  template <class G> static constexpr int append_to(G& graph, int current) {
    graph.begin_recomputed();
    current = LowerSequence<Parts...>::append_to(graph, current);
    graph.end_recomputed();
    return current;
  }
};
template <class... Parts>
  requires(sizeof...(Parts) > 1)
struct Lower<Recompute<Parts...>> : LowerRecompute<Parts...> {};
template <class Part> struct Lower<Recompute<Part>> : LowerRecompute<Part> {
  static constexpr bool numbered = Lower<Part>::numbered;
  static void name_leaves(std::vector<std::string>& names, std::string const& path) {
    Lower<Part>::name_leaves(names, path);
  }
};

/// Parts without leaves of their own.
struct LowerEdge {
  static constexpr bool numbered = false;
  using leaves = TypeList<>;
  static void name_leaves(std::vector<std::string>&, std::string const&) {}
};
template <class Tag> struct Lower<Save<Tag>> : LowerEdge {
  template <class G> static constexpr int append_to(G& graph, int current) {
    graph.save(tag_id<Tag>, current);
    return current;
  }
};
template <class Tag> struct Lower<Output<Tag>> : LowerEdge {
  template <class G> static constexpr int append_to(G& graph, int current) {
    graph.mark_output(tag_id<Tag>, current);
    return current;
  }
};
template <class Tag> struct Lower<From<Tag>> : LowerEdge {
  template <class G> static constexpr int append_to(G& graph, int) {
    return graph.read(tag_id<Tag>);
  }
};

template <class Tag> struct Lower<AddFrom<Tag>> : Lower<Add> {
  static constexpr bool numbered = false;
  template <class G> static constexpr int append_to(G& graph, int current) {
    return graph.append(current, graph.read(tag_id<Tag>));
  }
};
template <class Tag> struct Lower<ConcatFrom<Tag>> : Lower<Concat> {
  static constexpr bool numbered = false;
  template <class G> static constexpr int append_to(G& graph, int current) {
    return graph.append(current, graph.read(tag_id<Tag>));
  }
};

template <class Tag> struct Lower<MultiplyBy<Tag>> : Lower<Multiply> {
  static constexpr bool numbered = false;
  template <class G> static constexpr int append_to(G& graph, int current) {
    return graph.append(current, graph.read(tag_id<Tag>));
  }
};
template <class Layer, class... Tags>
  requires(sizeof...(Tags) >= 1 && sizeof...(Tags) <= 3 && requires { Layer::operands; })
struct Lower<Combine<Layer, Tags...>> : Lower<Layer> {
  template <class G> static constexpr int append_to(G& graph, int current) {
    int const saved[] = {graph.read(tag_id<Tags>)...};
    graph.append(current);
    for (int value : saved) graph.add_source(value);
    return graph.size - 1;
  }
};

}  // namespace phyllo::inline PHYLLO_ISA
