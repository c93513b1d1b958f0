// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <networks/resnet.hpp>

#include <algorithm>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

template <class Net> std::vector<std::string> leaf_names() {
  std::vector<std::string> names;
  Net::program::lowered::name_leaves(names, "");
  return names;
}

}  // namespace

TEST_CASE("parts are numbered as torch.nn.Sequential numbers them") {
  struct Net : Network<Input<4>, Linear<8>, ReLU, Linear<2>> {};
  CHECK(leaf_names<Net>() == std::vector<std::string>{"0", "0", "1", "2"});
}

TEST_CASE("inputs, saves, outputs and joins take no number") {
  struct a;
  struct b;
  struct c;
  struct Net : Network<NamedInput<a, 4>, Linear<4>, Save<c>, NamedInput<b, 4>, Linear<4>, Output<a>,
                       AddFrom<a>, Linear<3>> {};
  std::vector<std::string> const names = leaf_names<Net>();
  CHECK(names == std::vector<std::string>{"0", "0", "1", "1", "2", "2"});
  CHECK(int(names.size()) == Net::program::size);
}

TEST_CASE("blocks put their path before the numbers inside") {
  struct Net : Network<Input<4>, Linear<4>,
                       Residual<Main<Linear<4>, ReLU, Linear<4>>, Shortcut<Linear<4>>>,
                       Repeat<2, Linear<4>, ReLU>, Branch<Path<Linear<2>>, Path<ReLU, Linear<3>>>,
                       Path<ReLU, Linear<1>>> {};
  std::vector<std::string> const expected = {
      "0",        "0",  // input, linear
      "1.main.0", "1.main.1", "1.main.2", "1.shortcut.0", "1.add",    "2.0.0", "2.0.1", "2.1.0",
      "2.1.1",    "3.0.0",    "3.1.0",    "3.1.1",        "3.concat", "4.0",   "4.1"};
  CHECK(leaf_names<Net>() == expected);
}

TEST_CASE("a Residual of one path is named as one with Main") {
  struct Short : Network<Input<4>, Residual<Linear<4>, ReLU>> {};
  struct Long : Network<Input<4>, Residual<Main<Linear<4>, ReLU>>> {};
  CHECK(leaf_names<Short>() == leaf_names<Long>());
}

TEST_CASE("the layers with parameters have names of their own") {
  std::vector<std::string> names = leaf_names<networks::ResNet34>();
  auto const& nodes = networks::ResNet34::program::nodes;
  REQUIRE(int(names.size()) == networks::ResNet34::program::size);
  std::vector<std::string> owners;
  for (std::size_t i = 0; i < names.size(); ++i)
    if (nodes.node[i].parameter[0].count > 0) owners.push_back(names[i]);
  std::sort(owners.begin(), owners.end());
  CHECK(std::adjacent_find(owners.begin(), owners.end()) == owners.end());
  // 33 convolutions, 3 on shortcuts, each normalised, and the last layer.
  CHECK(owners.size() == 2 * 36 + 1);
}
