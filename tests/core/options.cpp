// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/core/options.hpp>

using namespace phyllo;

namespace {

template <int Rank, class... Options> constexpr Window window() {
  return detail::find_window<Rank, KernelSize<3>, Stride<1>, Padding<0>, Options...>();
}
constexpr bool same(Window const& a, Window const& b) {
  for (int d = 0; d < 3; ++d)
    if (a.size[d] != b.size[d] || a.stride[d] != b.stride[d] || a.padding[d] != b.padding[d])
      return false;
  return true;
}

}  // namespace

TEST_CASE("options come in any order, with defaults for those that are left out") {
  static_assert(same(window<2>(), Window{{1, 3, 3}, {1, 1, 1}, {0, 0, 0}}));
  static_assert(
      same(window<2, Padding<1>, KernelSize<5>>(), Window{{1, 5, 5}, {1, 1, 1}, {0, 1, 1}}));
  static_assert(
      same(window<2, KernelSize<5>, Padding<1>>(), window<2, Padding<1>, KernelSize<5>>()));
  static_assert(same(window<1, Stride<4>>(), Window{{1, 1, 3}, {1, 1, 4}, {0, 0, 0}}));
  static_assert(same(window<3, Stride<2>>(), Window{{3, 3, 3}, {2, 2, 2}, {0, 0, 0}}));
  CHECK(same(window<2, KernelSize<2, 7>>(), Window{{1, 2, 7}, {1, 1, 1}, {0, 0, 0}}));
  CHECK_FALSE(same(window<2, KernelSize<2, 7>>(), window<2, KernelSize<7, 2>>()));
}

TEST_CASE("a window is valid with positive sizes and strides and no negative padding") {
  static_assert(detail::is_valid(window<2>()));
  CHECK_FALSE(detail::is_valid(window<2, KernelSize<0>>()));
  CHECK_FALSE(detail::is_valid(window<2, Stride<1, 0>>()));
  CHECK_FALSE(detail::is_valid(window<2, Padding<-1>>()));
}

TEST_CASE("another count of numbers than one or the rank is not valid") {
  CHECK(detail::is_valid(window<3, KernelSize<1, 2, 3>>()));
  CHECK_FALSE(detail::is_valid(window<2, KernelSize<1, 2, 3>>()));
  CHECK_FALSE(detail::is_valid(window<3, Stride<1, 2>>()));
  CHECK_FALSE(detail::is_valid(window<1, Padding<>>()));
}

TEST_CASE("options are told apart, and given twice or not") {
  static_assert(detail::is_window_option<Stride<2>> && !detail::is_window_option<Bias<true>>);
  static_assert(detail::is_bias<Bias<false>> && !detail::is_bias<int>);
  static_assert(detail::find_bias<>() && !detail::find_bias<Stride<1>, Bias<false>>());
  CHECK(detail::each_once<KernelSize<3>, Stride<3>, Padding<3>, Bias<true>>);
  CHECK_FALSE(detail::each_once<Stride<3>, Padding<3>, Stride<2>>);
  CHECK_FALSE(detail::each_once<Bias<true>, Bias<true>>);
}
