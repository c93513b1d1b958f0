// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>
#include <utility>

namespace phyllo::inline PHYLLO_ISA {

/// A list of types; with `At` and `Join` the only metaprogramming that the library needs.
template <class... T> struct TypeList {
  static constexpr int size = sizeof...(T);
};

namespace detail {

template <std::size_t I, class T> struct Item {
  using type = T;
};
template <class Sequence, class... T> struct Items;
template <std::size_t... I, class... T>
struct Items<std::index_sequence<I...>, T...> : Item<I, T>... {};
template <std::size_t I, class T> Item<I, T> pick(Item<I, T> const*);

template <class List> struct Indexed;
template <class... T> struct Indexed<TypeList<T...>> {
  using type = Items<std::index_sequence_for<T...>, T...>;
};

template <class... Lists> struct Joined {
  using type = TypeList<>;
};
template <class... A> struct Joined<TypeList<A...>> {
  using type = TypeList<A...>;
};
template <class... A, class... B, class... Rest>
struct Joined<TypeList<A...>, TypeList<B...>, Rest...> : Joined<TypeList<A..., B...>, Rest...> {};
// Four at a time: the depth of instantiation for long networks falls to a quarter.
template <class... A, class... B, class... C, class... D, class... Rest>
struct Joined<TypeList<A...>, TypeList<B...>, TypeList<C...>, TypeList<D...>, Rest...>
    : Joined<TypeList<A..., B..., C..., D...>, Rest...> {};

}  // namespace detail

/// Element number I of a list.
template <class List, std::size_t I>
using At = typename decltype(detail::pick<I>(
    static_cast<typename detail::Indexed<List>::type const*>(nullptr)))::type;

/// Concatenation of lists.
template <class... Lists> using Join = typename detail::Joined<Lists...>::type;

}  // namespace phyllo::inline PHYLLO_ISA
