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

inline Tensors<> tensors() { return {}; }
template <class First, class... Rest>
Tensors<First, Rest...> tensors(First const& first, Rest const&... rest) {
  static_assert((!std::is_same_v<typename First::tag, typename Rest::tag> && ...),
                "tensors: one name is given twice. Pass named<tag>(view) once for each name.");
  return {first, tensors(rest...)};
}

namespace detail {
template <class T> inline constexpr bool is_tensors = false;
template <class... N> inline constexpr bool is_tensors<Tensors<N...>> = true;
}  // namespace detail

}  // namespace phyllo::inline PHYLLO_ISA
