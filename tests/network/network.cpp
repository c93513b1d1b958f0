// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <networks/lenet.hpp>
#include <networks/resnet.hpp>
#include <networks/unet.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/pooling.hpp>

using namespace phyllo;

namespace {

// Multiply-adds of the contractions alone: what the literature counts.
template <class Net> constexpr long multiply_adds() {
  long sum = 0;
  for (auto const& n : Net::program::nodes.node)
    if (n.role == Role::contraction)
      sum += (n.flops - (n.parameter[1].count > 0) * n.output.size()) / 2;
  return sum;
}

}  // namespace

TEST_CASE("LeNet-5 has the facts of its paper") {
  using Net = networks::LeNet;
  static_assert(Net::input == Shape{1, 28, 28});
  static_assert(Net::output == Shape{10});
  static_assert(Net::parameter_count == 61'706);
  static_assert(multiply_adds<Net>() ==
                28 * 28 * 6 * 25 + 10 * 10 * 16 * 25 * 6 + 400 * 120 + 120 * 84 + 84 * 10);
  // Contractions with their biases; one operation for an activation; four for a mean of 2 x 2.
  constexpr long activations = 6 * 28 * 28 + 16 * 10 * 10 + 120 + 84;
  constexpr long outputs = activations + 10;
  constexpr long pooled = 6 * 14 * 14 + 16 * 5 * 5;
  CHECK(Net::flops == 2 * multiply_adds<Net>() + outputs + activations + 4 * pooled);
}

TEST_CASE("bytes are those of every layer's inputs and output") {
  struct Net : Network<Input<3, 4, 4>, Conv2d<5>, ReLU, Flatten, Linear<2>> {};
  static_assert(Net::bytes<float> == 4 * ((48 + 20) + (20 + 20) + (20 + 2)));
  struct Sum : Network<Input<8>, Residual<Linear<8>>> {};
  CHECK(Sum::bytes<double> == 8 * ((8 + 8) + (8 + 8 + 8)));
}

TEST_CASE("ResNets have as many parameters as torchvision's") {
  static_assert(networks::ResNet18::output == Shape{1000});
  static_assert(networks::ResNet18::parameter_count == 11'689'512);
  static_assert(networks::ResNet34::parameter_count == 21'797'672);
  // He et al., CVPR 2016, table 1: 1.8e9 and 3.6e9 multiply-adds.
  static_assert(multiply_adds<networks::ResNet18>() == 1'814'073'344);
  static_assert(multiply_adds<networks::ResNet34>() == 3'663'761'408);
  // Running mean and variance of each normalised channel; stem, stages, shortcuts.
  CHECK(networks::ResNet18::program::nodes.buffer_size ==
        2 * (64 + 4 * 64 + 4 * 128 + 4 * 256 + 4 * 512 + 128 + 256 + 512));
}

TEST_CASE("the shapes of a ResNet are those of its paper") {
  auto const& nodes = networks::ResNet18::program::nodes;
  CHECK(nodes.node[0].output == Shape{3, 224, 224});
  CHECK(nodes.node[1].output == Shape{64, 112, 112});
  CHECK(nodes.node[4].output == Shape{64, 56, 56});
  int sums = 0;
  Shape const expected[] = {{64, 56, 56},  {64, 56, 56},  {128, 28, 28}, {128, 28, 28},
                            {256, 14, 14}, {256, 14, 14}, {512, 7, 7},   {512, 7, 7}};
  for (auto const& n : nodes.node) {
    CHECK(n.ok);
    if (n.role == Role::add) CHECK(n.output == expected[sums++]);
  }
  CHECK(sums == 8);
}

TEST_CASE("a U-Net's decoder reads what its encoder saved") {
  using Net = networks::UNet;
  static_assert(Net::output == Shape{2, 32, 48});
  constexpr int encoder = (9 * 8 + 8) + (72 * 8 + 8) + (72 * 16 + 16) + (144 * 16 + 16);
  constexpr int bottom = (144 * 32 + 32) + (288 * 32 + 32);
  constexpr int decoder = (9 * 48 * 16 + 16) + (144 * 16 + 16) + (9 * 24 * 8 + 8) + (72 * 8 + 8);
  constexpr int normalization = 2 * 2 * (8 + 16 + 32 + 16 + 8);
  static_assert(Net::parameter_count == encoder + bottom + decoder + normalization + 16 + 2);
  int joins = 0;
  for (auto const& n : Net::program::nodes.node)
    if (n.role == Role::concatenation) {
      CHECK(n.output == (joins == 0 ? Shape{48, 16, 24} : Shape{24, 32, 48}));
      CHECK(Net::program::nodes.node[n.source[1]].role == Role::pointwise);
      CHECK(Net::program::nodes.node[n.source[1]].output ==
            (joins == 0 ? Shape{16, 16, 24} : Shape{8, 32, 48}));
      ++joins;
    }
  CHECK(joins == 2);
}

TEST_CASE("networks on lines and volumes have the shapes of their rank") {
  struct Line : Network<Input<2, 30>, Conv1d<4, KernelSize<5>, Stride<2>>, MaxPool1d<3>> {};
  static_assert(Line::program::nodes.node[1].output == Shape{4, 13});
  static_assert(Line::output == Shape{4, 4});
  static_assert(Line::parameter_count == 2 * 5 * 4 + 4);
  struct Volume : Network<Input<1, 6, 8, 10>, Conv3d<3, KernelSize<1, 2, 3>>, MaxPool3d<2>> {};
  static_assert(Volume::program::nodes.node[1].output == Shape{3, 6, 7, 8});
  static_assert(Volume::parameter_count == 6 * 3 + 3);
  CHECK(Volume::output == Shape{3, 3, 3, 4});
}
