// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/core/type_list.hpp>

#include <type_traits>

using phyllo::At;
using phyllo::Join;
using phyllo::TypeList;

namespace {

template <int> struct Number;
template <class Sequence> struct Numbers;
template <int... I> struct Numbers<std::integer_sequence<int, I...>> {
  using type = TypeList<Number<I>...>;
  using joined = Join<TypeList<Number<I>>...>;
};

}  // namespace

TEST_CASE("an element of a list is found by its place, and may be there twice") {
  using List = TypeList<int, char, int, void>;
  static_assert(List::size == 4 && TypeList<>::size == 0);
  static_assert(std::is_same_v<At<List, 0>, int>);
  static_assert(std::is_same_v<At<List, 1>, char>);
  static_assert(std::is_same_v<At<List, 2>, int>);
  CHECK(std::is_same_v<At<List, 3>, void>);
}

TEST_CASE("lists are joined in order, whatever their number") {
  static_assert(std::is_same_v<Join<>, TypeList<>>);
  static_assert(std::is_same_v<Join<TypeList<int>>, TypeList<int>>);
  static_assert(std::is_same_v<Join<TypeList<int>, TypeList<>>, TypeList<int>>);
  static_assert(std::is_same_v<Join<TypeList<int>, TypeList<char, long>, TypeList<>, TypeList<int>>,
                               TypeList<int, char, long, int>>);
  using Long = Numbers<std::make_integer_sequence<int, 600>>;
  static_assert(std::is_same_v<Long::joined, Long::type>);
  CHECK(std::is_same_v<At<Long::joined, 599>, Number<599>>);
}
