// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The networks of examples/networks beside the figures of count_published_networks.py. Everything
// is computed by the compiler; no kernel of these networks is instantiated.

#include "../../examples/networks/alexnet.hpp"
#include "../../examples/networks/lenet5.hpp"
#include "../../examples/networks/resnet.hpp"
#include "../../examples/networks/unet.hpp"
#include "../../examples/networks/vgg16.hpp"

#include <doctest/doctest.h>

using namespace phyllo;

namespace {

struct Figures {
  long parameters, buffers, multiply_adds;
  friend constexpr bool operator==(Figures const&, Figures const&) = default;
};

template <class Net> constexpr Figures figures() {
  Figures sum{Net::parameter_count, Net::program::nodes.buffer_size, 0};
  for (auto const& n : Net::program::nodes.node)
    if (n.role == Role::contraction || n.role == Role::convolution)
      sum.multiply_adds += (n.flops - (n.parameter[1].count > 0) * n.output.size()) / 2;
  return sum;
}

}  // namespace

TEST_CASE(
    "published networks have the parameters, buffers and multiply-adds of PyTorch's modules") {
  using namespace networks;
  static_assert(figures<LeNet5<>>() == Figures{61'706, 0, 416'520});
  static_assert(figures<LeNet5<1, 32, 32, 10, 0>>() == Figures{61'706, 0, 416'520});
  static_assert(figures<AlexNet<>>() == Figures{61'100'840, 0, 714'188'480});
  static_assert(figures<VGG16<>>() == Figures{138'357'544, 0, 15'470'264'320});
  static_assert(figures<ResNet18<>>() == Figures{11'689'512, 9'600, 1'814'073'344});
  static_assert(figures<ResNet34<>>() == Figures{21'797'672, 17'024, 3'663'761'408});
  static_assert(figures<ResNet50<>>() == Figures{25'557'032, 53'120, 4'089'184'256});
  static_assert(figures<UNet<1, 512, 512, 1, 64, 128, 256, 512, 1024>>() ==
                Figures{31'036'481, 11'776, 192'367'558'656});
  static_assert(figures<UNet<16, 128, 128, 3, 32, 64, 128>>() ==
                Figures{470'979, 1'280, 1'654'128'640});
  CHECK(ResNet50<>::output == Shape{1000});
}

TEST_CASE("published networks have PyTorch's figures for diffraction patterns of 120 x 85 too") {
  using namespace networks;
  static_assert(figures<LeNet5<1, 120, 85, 27>>() == Figures{1'036'591, 0, 7'670'988});
  static_assert(figures<AlexNet<1, 120, 85, 27>>() == Figures{57'098'971, 0, 149'149'952});
  static_assert(figures<VGG16<1, 120, 85, 27>>() == Figures{134'370'011, 0, 3'120'354'816});
  static_assert(figures<ResNet18<1, 120, 85, 27>>() == Figures{11'184'091, 9'600, 393'259'776});
  static_assert(figures<ResNet34<1, 120, 85, 27>>() == Figures{21'292'251, 17'024, 822'356'736});
  static_assert(figures<ResNet50<1, 120, 85, 27>>() == Figures{23'557'083, 53'120, 918'244'608});
  CHECK(ResNet18<1, 120, 85, 27>::output == Shape{27});
}

TEST_CASE("a bottleneck block of stride 2 has it in its convolution of 3 x 3") {
  auto const& nodes = networks::ResNet50<>::program::nodes;
  int strided = 0, shortcuts = 0;
  for (auto const& n : nodes.node) {
    CHECK(n.ok);
    if (n.role != Role::contraction || n.window.stride[2] != 2) continue;
    if (n.window.size[2] == 3) ++strided;
    if (n.window.size[2] == 1) ++shortcuts;
  }
  CHECK(strided == 3);
  CHECK(shortcuts == 3);
}
