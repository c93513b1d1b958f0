// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/refusal.hpp>
#include <phyllo/network/program.hpp>

#include <cstddef>
#include <type_traits>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {
namespace detail {

/// The verdict on a correct program.
struct Accepted {};

/// What is wrong with a program first, in the order in which its author would mend it. The verdict
/// is a class that contains one sentence: code that requires the complete class shows it.
template <class P> struct Judgement {
  static constexpr int first_refusal() {
    for (int i = 0; i < P::size; ++i)
      if (!P::nodes.node[i].ok) return i;
    return -1;
  }
  static constexpr int refusal = first_refusal();
  static constexpr int at = refusal < 0 ? 0 : refusal;
  // The layer stands before every input.
  static constexpr bool unfed = [] {
    bool lacks = false;
    for (int k = 0; k < P::edges.source_count[at]; ++k)
      lacks = lacks || P::edges.sources[at][k] < 0;
    return lacks && !is_given(P::nodes.node[at]);
  }();
  // The input whose integers are an output; -1: there is none.
  static constexpr int output_of_integers = [] {
    for (int o = 0; o < P::nodes.outputs; ++o)
      if (P::nodes.node[P::nodes.output[o]].type == ValueType::integer) return P::nodes.output[o];
    return -1;
  }();
  static constexpr TagMistake mistake = P::edges.mistake;
  using layer = At<typename P::leaves, at>;
  // A layer with operands may read one value.
  static constexpr bool reads_one = P::edges.source_count[at] == 1 && requires { layer::operands; };
  static constexpr bool joins = facts_of(P::nodes.node[at]).joins_values && !reads_one;

  // Source number s of the layer; beyond the sources: no value. Aliases are not followed, because
  // they stand for other shapes than their sources.
  static constexpr Shape source(int s) {
    if (s >= P::edges.source_count[at] || P::edges.sources[at][s] < 0) return Shape{};
    return P::nodes.node[P::edges.sources[at][s]].output;
  }
  static constexpr Shape find_given() {
    if (!joins) return source(0);
    int s = 1;
    while (source(s).channels > 0 && source(s).with_channels(0) == source(0).with_channels(0) &&
           !facts_of(P::nodes.node[at]).adds)
      ++s;
    // Channels alone differ.
    return source(s).channels > 0 ? source(s) : source(1);
  }
  static constexpr Shape find_expected() {
    if constexpr (joins)
      return source(0);
    else if constexpr (requires { layer::expected(Shape{}); })
      return layer::expected(source(0));
    else
      return Shape{};
  }
  static constexpr Shape given = find_given();
  static constexpr Shape expected = find_expected();

  // A shape as template arguments; no channels: there is no value.
  static constexpr int extents(Shape s) { return s.channels == 0 ? 0 : s.rank + 1; }
  template <std::size_t... I> static auto spell_given(std::index_sequence<I...>) {
    return std::type_identity<phyllo::Given<given.extent(int(I))...>>{};
  }
  template <std::size_t... I> static auto spell_expected(std::index_sequence<I...>) {
    return std::type_identity<phyllo::Expected<expected.extent(int(I))...>>{};
  }

  static constexpr auto judge() {
    using Where = phyllo::Layer<at>;
    using TagWhere = phyllo::Layer<P::edges.mistaken_at>;
    using G = typename decltype(spell_given(std::make_index_sequence<extents(given)>{}))::type;
    using E =
        typename decltype(spell_expected(std::make_index_sequence<extents(expected)>{}))::type;
    if constexpr (!is_given(P::nodes.node[0]))
      return std::type_identity<NoInput<At<typename P::leaves, 0>, phyllo::Layer<0>>>{};
    else if constexpr (mistake != TagMistake::none &&
                       (refusal < 0 || P::edges.mistaken_at <= refusal))
      if constexpr (mistake == TagMistake::unknown)
        return std::type_identity<UnknownTag<P::edges.mistaken, TagWhere>>{};
      else if constexpr (mistake == TagMistake::output_twice)
        return std::type_identity<OutputTwice<P::edges.mistaken, TagWhere>>{};
      else if constexpr (mistake == TagMistake::input_twice)
        return std::type_identity<InputTwice<P::edges.mistaken, TagWhere>>{};
      else
        return std::type_identity<TooManyTags<P::edges.mistaken, TagWhere>>{};
    else if constexpr (refusal < 0 && output_of_integers >= 0)
      return std::type_identity <
             OutputsIntegers<At<typename P::leaves, output_of_integers<0 ? 0 : output_of_integers>,
                                phyllo::Layer<output_of_integers>>>{};
    else if constexpr (refusal < 0)
      return std::type_identity<Accepted>{};
    else if constexpr (P::nodes.node[at].oversized)
      return std::type_identity<TooLarge<layer, Where, G>>{};
    else if constexpr (unfed)
      return std::type_identity<NoInput<layer, Where>>{};
    else if constexpr (P::nodes.node[at].mistyped && P::nodes.node[at].lacks_integers)
      return std::type_identity<RequiresIntegers<layer, Where>>{};
    else if constexpr (P::nodes.node[at].mistyped)
      return std::type_identity<ReadsIntegers<layer, Where>>{};
    else if constexpr (requires { typename layer::template Refused<Where, G, E>; })
      return std::type_identity<typename layer::template Refused<Where, G, E>>{};
    else
      return std::type_identity<RefusedBy<layer, Where, G, E>>{};
  }
};

}  // namespace detail

/// The verdict on a program: complete for a correct one; else a class whose completion is one
/// compile error, which names position, layer, expected and given shape, with the remedy.
template <class P> using Verdict = typename decltype(detail::Judgement<P>::judge())::type;

}  // namespace phyllo::inline PHYLLO_ISA
