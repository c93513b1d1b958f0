// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;

TEST_CASE("a Branch puts the channels of its paths side by side") {
  // Szegedy et al., CVPR 2015, table 1, row inception (3a).
  struct Net
      : Network<Input<192, 28, 28>,
                Branch<Path<Conv2d<64, KernelSize<1>>>,
                       Path<Conv2d<96, KernelSize<1>>, Conv2d<128, Padding<1>>>,
                       Path<Conv2d<16, KernelSize<1>>, Conv2d<32, KernelSize<5>, Padding<2>>>,
                       Path<MaxPool2d<3, Stride<1>, Padding<1>>, Conv2d<32, KernelSize<1>>>>> {};
  static_assert(Net::output == Shape{256, 28, 28});
  auto const& node = Net::program::nodes.node;
  Node const& concat = node[Net::program::size - 1];
  CHECK(concat.role == Role::concatenation);
  REQUIRE(concat.sources == 4);
  int const ends[] = {1, 3, 5, 7};
  for (int i = 0; i < 4; ++i) CHECK(concat.source[i] == ends[i]);
  for (int begin : {1, 2, 4, 6}) CHECK(node[begin].source[0] == 0);
}

TEST_CASE("an empty path is the identity, and a path may be a layer by itself") {
  struct Net : Network<Input<3, 4, 4>, Branch<Path<>, ReLU>> {};
  static_assert(Net::output == Shape{6, 4, 4});
  CHECK(Net::program::nodes.node[2].source[0] == 0);
  CHECK(Net::program::nodes.node[2].source[1] == 1);
  CHECK(Net::parameter_count == 0);
}
