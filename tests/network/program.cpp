// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <networks/lenet.hpp>
#include <networks/resnet.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/reshape.hpp>

using namespace phyllo;

TEST_CASE("a Flatten that only Linear layers read becomes their window") {
  auto const& nodes = networks::LeNet::program::nodes;
  Node const& flatten = nodes.node[7];
  Node const& linear = nodes.node[8];
  CHECK(flatten.role == Role::move);
  CHECK(flatten.alias);
  CHECK(linear.source[0] == 6);
  CHECK(linear.input == Shape{16, 5, 5});
  CHECK(linear.window.size[0] == 1);
  CHECK(linear.window.size[1] == 5);
  CHECK(linear.window.size[2] == 5);
  CHECK(linear.output == Shape{120});
  CHECK(linear.parameter[0].count == 16 * 5 * 5 * 120);
}

TEST_CASE("two Linear layers behind one Flatten both read the unflattened value") {
  struct flat;
  struct Net : Network<Input<3, 2, 4>, Flatten, Save<flat>, Linear<5>, From<flat>, Linear<6>> {};
  auto const& nodes = Net::program::nodes;
  CHECK(nodes.node[1].alias);
  for (int i : {2, 3}) {
    CHECK(nodes.node[i].source[0] == 0);
    CHECK(nodes.node[i].window.taps() == 8);
    CHECK(nodes.node[i].input == Shape{3, 2, 4});
  }
  CHECK(Net::output == Shape{6});
}

TEST_CASE("a Flatten that something else reads as well transposes") {
  struct flat;
  struct Activated : Network<Input<3, 2, 4>, Flatten, ReLU, Linear<5>> {};
  struct Mixed : Network<Input<3, 2, 4>, Flatten, Save<flat>, Linear<24>, AddFrom<flat>> {};
  struct Last : Network<Input<3, 2, 4>, ReLU, Flatten> {};
  CHECK_FALSE(Activated::program::nodes.node[1].alias);
  CHECK(Activated::program::nodes.node[3].window.taps() == 1);
  CHECK_FALSE(Mixed::program::nodes.node[1].alias);
  CHECK(Mixed::program::nodes.node[2].source[0] == 1);
  CHECK(Mixed::program::nodes.node[2].input == Shape{24});
  CHECK_FALSE(Last::program::nodes.node[2].alias);
  CHECK(Last::program::nodes.output[0] == 2);
  CHECK(Last::output == Shape{24});
}

TEST_CASE("a Flatten of one position costs nothing") {
  struct OnePosition : Network<Input<8, 4, 4>, GlobalAveragePool, Flatten, ReLU> {};
  CHECK(OnePosition::program::nodes.node[2].alias);
  CHECK(OnePosition::program::nodes.node[3].source[0] == 1);
}

TEST_CASE("a node reads as many numbers as its value has, behind an alias under other extents") {
  struct flat;
  struct OneChannel : Network<Input<1, 4, 4>, Flatten, Linear<5>> {};
  struct Activated : Network<Input<1, 4, 4>, Flatten, ReLU, Linear<5>> {};
  struct Joined : Network<Input<1, 2, 2>, Flatten, Save<flat>, ReLU, ConcatFrom<flat>> {};
  struct Reshaped : Network<Input<3, 2, 4>, Reshape<3, 8>, ReLU> {};
  CHECK(OneChannel::program::nodes.node[1].alias);
  CHECK(OneChannel::program::nodes.node[2].window.taps() == 16);
  CHECK(Activated::program::nodes.node[1].alias);
  CHECK(Joined::program::nodes.node[1].alias);
  CHECK(Joined::program::nodes.node[3].source_shape[1] == Shape{4});
  CHECK(Reshaped::program::nodes.node[1].alias);
  auto const reads_as_stored = [](auto const& nodes, int i) {
    Node const& n = nodes.node[i];
    CHECK(n.input.size() == nodes.node[n.source[0]].output.size());
    return nodes.reads_as_stored(n);
  };
  CHECK(reads_as_stored(OneChannel::program::nodes, 2));
  CHECK_FALSE(reads_as_stored(Activated::program::nodes, 2));
  CHECK(reads_as_stored(Activated::program::nodes, 3));
  CHECK_FALSE(reads_as_stored(Joined::program::nodes, 3));
  CHECK_FALSE(reads_as_stored(Reshaped::program::nodes, 2));
}

TEST_CASE("the output of a network has the shape of its last part, alias or not") {
  struct OnePosition : Network<Input<8, 4, 4>, GlobalAveragePool, Flatten> {};
  static_assert(OnePosition::output == Shape{8});
  CHECK(OnePosition::program::nodes.output[0] == 1);
  // One channel's pixels are stored as so many channels.
  struct OneChannel : Network<Input<1, 4, 4>, ReLU, Flatten> {};
  static_assert(OneChannel::output == Shape{16});
  CHECK(OneChannel::program::nodes.node[2].alias);
  CHECK(OneChannel::program::nodes.output[0] == 1);
}

TEST_CASE("parameters lie one after the other, aligned, and do not overlap") {
  auto const& nodes = networks::ResNet18::program::nodes;
  int end = 0;
  int count = 0;
  auto next = [&](int at, int size) {
    if (size == 0) {
      REQUIRE(at == -1);
      return;
    }
    REQUIRE(at >= end);
    REQUIRE(at < end + parameter_alignment);
    REQUIRE(at % parameter_alignment == 0);
    end = at + size;
    count += size;
  };
  int buffers = 0;
  for (Node const& n : nodes.node) {
    next(n.parameter[0].offset, n.parameter[0].count);
    next(n.parameter[1].offset, n.parameter[1].count);
    if (n.role == Role::normalization) {
      REQUIRE(n.buffer == buffers);
      buffers += 2 * n.output.channels;
    } else {
      REQUIRE(n.buffer == -1);
    }
  }
  CHECK(count == nodes.parameter_count);
  CHECK(nodes.arena_size >= end);
  CHECK(nodes.arena_size < end + parameter_alignment);
  CHECK(nodes.buffer_size == buffers);
}

TEST_CASE("layers pass their facts on to their nodes") {
  struct Net : Network<Input<4, 6, 6>, Conv2d<4, Padding<1>, Bias<false>>,
                       BatchNorm<Statistics::Global>, Dropout<0.25>, ReLU, MaxPool2d<3>> {};
  auto const& node = Net::program::nodes.node;
  CHECK(node[0].sources == 0);
  CHECK(node[1].parameter[1].offset == -1);
  CHECK(node[1].parameter[1].count == 0);
  CHECK(node[2].global_statistics);
  CHECK(node[2].momentum == 0.1);
  CHECK(node[2].epsilon == 1e-5);
  CHECK(node[3].random);
  CHECK(node[3].derivative_of == Derivative::nothing);
  CHECK_FALSE(node[4].random);
  CHECK(node[4].derivative_of == Derivative::output);
  CHECK(node[5].window.stride[2] == 3);
  CHECK(node[5].flops == 9 * 4 * 2 * 2);
}
