// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;

namespace {
struct state;
struct forcing;
struct energy;
struct flux;
}  // namespace

TEST_CASE("named inputs are read by their names, and outputs have theirs") {
  struct Net : Network<NamedInput<state, 4>, Linear<6>, Save<energy>, NamedInput<forcing, 3>,
                       Linear<6>, AddFrom<energy>, ReLU, Output<flux>, Linear<1>, Output<energy>,
                       From<state>, ConcatFrom<forcing>, Output<state>> {};
  using P = Net::program;
  static_assert(P::nodes.inputs == 2 && P::nodes.outputs == 3);
  static_assert(Net::input == Shape{4} && Net::output == Shape{6});
  CHECK(P::nodes.node[2].role == Role::input);
  CHECK(P::nodes.node[4].role == Role::add);
  CHECK(P::nodes.node[4].source[0] == 3);
  CHECK(P::nodes.node[4].source[1] == 1);
  CHECK(P::edges.output_tag[0] == tag_id<flux>);
  CHECK(P::edges.output_tag[1] == tag_id<energy>);
  CHECK(P::nodes.output[0] == 5);
  CHECK(P::nodes.output[1] == 6);
  CHECK(P::nodes.output[2] == 7);
  CHECK(P::nodes.output_shape[1] == Shape{1});
  CHECK(P::nodes.output_shape[2] == Shape{7});
  CHECK(P::nodes.node[7].source[0] == 0);
  CHECK(P::nodes.node[7].source[1] == 2);
}

TEST_CASE("From starts a second head") {
  struct Net : Network<Input<4>, Linear<8>, Save<state>, Linear<2>, Output<energy>, From<state>,
                       Linear<3>, Output<flux>> {};
  auto const& nodes = Net::program::nodes;
  CHECK(nodes.node[2].source[0] == 1);
  CHECK(nodes.node[3].source[0] == 1);
  CHECK(nodes.output_shape[0] == Shape{2});
  CHECK(nodes.output_shape[1] == Shape{3});
}

TEST_CASE("a network without Output has its last value as one") {
  struct Net : Network<Input<4>, Linear<8>, ReLU> {};
  CHECK(Net::program::nodes.outputs == 1);
  CHECK(Net::program::nodes.output[0] == 2);
}

TEST_CASE("the same value may have two names, and be added to itself") {
  struct Net : Network<Input<4>, Save<state>, Save<flux>, AddFrom<state>, AddFrom<flux>> {};
  auto const& node = Net::program::nodes.node;
  CHECK(node[1].source[0] == 0);
  CHECK(node[1].source[1] == 0);
  CHECK(node[2].source[0] == 1);
  CHECK(node[2].source[1] == 0);
}
