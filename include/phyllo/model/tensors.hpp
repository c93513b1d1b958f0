// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <type_traits>

namespace phyllo::inline PHYLLO_ISA {

/// A View with the name of an input or output.
template <class Tag, class View> struct Named {
  using tag = Tag;
  View view;
};

/// `named<velocity>(u)`: u is the input or output called velocity.
template <class Tag, class View> Named<Tag, View> named(View const& view) { return {view}; }

/// Several named Views as one argument.
///
/// options  made by `tensors(named<a>(x), named<b>(y), ...)`, in any order
/// errors   compile: one name twice; where they are bound: a name that the network does not have,
///          or one of its names without a View
template <class... N> struct Tensors;
template <> struct Tensors<> {
  static constexpr int size = 0;
  template <class Visitor> void visit(Visitor const&) const {}
};
template <class First, class... Rest> struct Tensors<First, Rest...> {
  static constexpr int size = 1 + int(sizeof...(Rest));
  First first;
  Tensors<Rest...> rest;

  template <class Visitor> void visit(Visitor const& visitor) const {
    visitor.template operator()<typename First::tag>(first.view);
    rest.visit(visitor);
  }
};

namespace detail {
template <class T> inline constexpr bool is_named_view = false;
template <class Tag, class View>
inline constexpr bool is_named_view<phyllo::Named<Tag, View>> = true;

// What a mistake in `tensors` becomes, so that it is the only one that a compiler reports.
struct RefusedTensors {};
}  // namespace detail

inline Tensors<> tensors() { return {}; }
template <class First, class... Rest> auto tensors(First const& first, Rest const&... rest) {
  constexpr bool are_named = detail::is_named_view<First> && (detail::is_named_view<Rest> && ...);
  static_assert(are_named,
                "tensors: a View has no name. Pass named<tag>(view) for each input or output.");
  if constexpr (are_named) {
    static_assert((!std::is_same_v<typename First::tag, typename Rest::tag> && ...),
                  "tensors: one name is given twice. Pass named<tag>(view) once for each name.");
    return Tensors<First, Rest...>{first, tensors(rest...)};
  } else {
    return detail::RefusedTensors{};
  }
}

namespace detail {
template <class T> inline constexpr bool is_tensors = false;
template <class... N> inline constexpr bool is_tensors<Tensors<N...>> = true;
}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
