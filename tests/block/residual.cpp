// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

#include <type_traits>

using namespace phyllo;

TEST_CASE("a Residual adds its two paths, the main one first") {
  struct Net : Network<Input<3, 8, 8>, Residual<Main<Conv2d<6, Stride<2>, Padding<1>>, ReLU>,
                                                Shortcut<Conv2d<6, KernelSize<1>, Stride<2>>>>> {};
  auto const& node = Net::program::nodes.node;
  static_assert(Net::program::size == 5);
  CHECK(node[1].source[0] == 0);
  CHECK(node[2].source[0] == 1);
  CHECK(node[3].source[0] == 0);
  CHECK(node[4].role == Role::add);
  CHECK(node[4].sources == 2);
  CHECK(node[4].source[0] == 2);
  CHECK(node[4].source[1] == 3);
  CHECK(Net::output == Shape{6, 4, 4});
}

TEST_CASE("without Shortcut the shortcut is the identity, without Main the parts are it") {
  struct Full : Network<Input<4>, Residual<Main<Linear<4>, ReLU>, Shortcut<>>> {};
  struct Short : Network<Input<4>, Residual<Linear<4>, ReLU>> {};
  static_assert(std::is_same_v<Full::program::leaves, Short::program::leaves>);
  CHECK(Short::program::nodes.node[3].source[0] == 2);
  CHECK(Short::program::nodes.node[3].source[1] == 0);
  CHECK(Full::parameter_count == Short::parameter_count);
}

TEST_CASE("a Residual stands in a Residual") {
  struct Net : Network<Input<4>, Linear<5>, Residual<Residual<Linear<5>>, ReLU>> {};
  auto const& node = Net::program::nodes.node;
  CHECK(node[3].role == Role::add);
  CHECK(node[3].source[1] == 1);
  CHECK(node[5].role == Role::add);
  CHECK(node[5].source[0] == 4);
  CHECK(node[5].source[1] == 1);
}
