// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training curves of deep convolutional networks of small extents and widths against PyTorch's.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
// Krizhevsky, Sutskever and Hinton, NeurIPS 2012: strides, overlapping pools, groups, LocalResponseNorm and Dropout,
// of images of 63 x 63; Dropout of probability zero, and a LocalResponseNorm strong enough to be seen.
using Response = LocalResponseNorm<5, 0.5, 0.75, 2.0>;
struct AlexNet : Network<Input<3, 63, 63>, Conv2d<4, KernelSize<11>, Stride<4>, Padding<2>>, ReLU, Response, MaxPool2d<3, Stride<2>>,
                         Conv2d<8, KernelSize<5>, Padding<2>, ChannelGroups<2>>, ReLU, Response, MaxPool2d<3, Stride<2>>,
                         Conv2d<8, Padding<1>>, ReLU, Conv2d<8, Padding<1>, ChannelGroups<2>>, ReLU,
                         Conv2d<6, Padding<1>, ChannelGroups<2>>, ReLU, MaxPool2d<3, Stride<2>>, Flatten,
                         Dropout<0.0>, Linear<16>, ReLU, Dropout<0.0>, Linear<16>, ReLU, Linear<10>> {};

// Simonyan and Zisserman, ICLR 2015, configuration A, of images of 32 x 32.
struct VGG11 : Network<Input<3, 32, 32>, Conv2d<4, Padding<1>>, ReLU, MaxPool2d<2>, Conv2d<4, Padding<1>>, ReLU, MaxPool2d<2>,
                       Conv2d<6, Padding<1>>, ReLU, Conv2d<6, Padding<1>>, ReLU, MaxPool2d<2>,
                       Conv2d<8, Padding<1>>, ReLU, Conv2d<8, Padding<1>>, ReLU, MaxPool2d<2>,
                       Conv2d<8, Padding<1>>, ReLU, Conv2d<8, Padding<1>>, ReLU, MaxPool2d<2>, Flatten,
                       Linear<16>, ReLU, Dropout<0.0>, Linear<16>, ReLU, Dropout<0.0>, Linear<10>> {};
// clang-format on

}  // namespace

TEST_CASE("curves: AlexNet") {
  check_curve("alexnet",
              Single<AlexNet, CrossEntropy, Sgd>{{.rate = 0.02,
                                                  .momentum = 0.9,
                                                  .weight_decay = 5e-4,
                                                  .schedule = multi_step_schedule({50, 80}, 0.1)}});
}

TEST_CASE("curves: VGG-11") {
  check_curve("vgg11", Single<VGG11, CrossEntropy, Adam>{
                           {.rate = 2e-3, .schedule = exponential_schedule(0.99)}});
}
