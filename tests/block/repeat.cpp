// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

#include <type_traits>

using namespace phyllo;

TEST_CASE("Repeat writes its parts out, each time with parameters of their own") {
  struct Short : Network<Input<4>, Repeat<3, Linear<4>, ReLU>, Linear<2>> {};
  struct Long : Network<Input<4>, Linear<4>, ReLU, Linear<4>, ReLU, Linear<4>, ReLU, Linear<2>> {};
  static_assert(std::is_same_v<Short::program::leaves, Long::program::leaves>);
  static_assert(Short::parameter_count == 3 * (4 * 4 + 4) + (4 * 2 + 2));
  for (int i = 0; i < Short::program::size; ++i) {
    CHECK(Short::program::nodes.node[i].source[0] == Long::program::nodes.node[i].source[0]);
    CHECK(Short::program::nodes.node[i].parameter[0].offset ==
          Long::program::nodes.node[i].parameter[0].offset);
  }
}

TEST_CASE("Repeat takes shapes that change and blocks") {
  using Block = Path<Residual<Linear<4>>, Branch<Path<>, Path<>>, Linear<4>>;
  struct Net : Network<Input<4>, Repeat<2, Block>> {};
  CHECK(Net::output == Shape{4});
  CHECK(Net::parameter_count == 2 * ((4 * 4 + 4) + (8 * 4 + 4)));
  struct Growing : Network<Input<1>, Repeat<5, Branch<Path<>, Path<>>>> {};
  CHECK(Growing::output == Shape{32});
}

TEST_CASE("a name saved again in a Repeat is the latest one") {
  struct before;
  struct Net : Network<Input<4>, Repeat<2, Save<before>, Linear<4>, AddFrom<before>>> {};
  auto const& node = Net::program::nodes.node;
  CHECK(node[2].source[1] == 0);
  CHECK(node[4].source[0] == 3);
  CHECK(node[4].source[1] == 2);
}

TEST_CASE("a network may be deep") {
  struct Net : Network<Input<4>, Repeat<300, Linear<4>, ReLU>> {};
  static_assert(Net::program::size == 601);
  CHECK(Net::parameter_count == 300 * 20);
}
