// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Training curves of networks with batch normalisation, residual and long skip connections against
// PyTorch's.

#include <curves/curve.hpp>

using namespace phyllo;
using namespace phyllo::test;

namespace {

// clang-format off
// He et al., "Deep Residual Learning", CVPR 2016, table 1, 18 layers, of images of 40 x 40.
template <int Width, int Step = 1>
using Body = Main<Conv2d<Width, Stride<Step>, Padding<1>, Bias<false>>, BatchNorm<>, ReLU, Conv2d<Width, Padding<1>, Bias<false>>, BatchNorm<>>;
template <int Width> using Block = Residual<Body<Width>>;
template <int Width> using DownBlock = Residual<Body<Width, 2>, Shortcut<Conv2d<Width, KernelSize<1>, Stride<2>, Bias<false>>, BatchNorm<>>>;
template <int Width> using Stage = Path<DownBlock<Width>, ReLU, Block<Width>, ReLU>;
struct ResNet18 : Network<Input<3, 40, 40>, Conv2d<4, KernelSize<7>, Stride<2>, Padding<3>, Bias<false>>, BatchNorm<>, ReLU,
                          MaxPool2d<3, Stride<2>, Padding<1>>, Block<4>, ReLU, Block<4>, ReLU, Stage<6>, Stage<8>, Stage<8>,
                          GlobalAveragePool, Flatten, Linear<10>> {};

// Ronneberger, Fischer and Brox, "U-Net", MICCAI 2015, of two levels and padded convolutions.
struct first;
struct second;
template <int Width> using Double = Path<Conv2d<Width, Padding<1>>, ReLU, Conv2d<Width, Padding<1>>, ReLU>;
struct UNet : Network<Input<1, 16, 16>, Double<4>, Save<first>, MaxPool2d<2>, Double<6>, Save<second>, MaxPool2d<2>, Double<8>,
                      ConvTranspose2d<6, KernelSize<2>, Stride<2>>, ConcatFrom<second>, Double<6>,
                      ConvTranspose2d<4, KernelSize<2>, Stride<2>>, ConcatFrom<first>, Double<4>, Conv2d<3, KernelSize<1>>> {};
// clang-format on

}  // namespace

TEST_CASE("curves: ResNet-18") {
  check_curve("resnet18",
              Single<ResNet18, CrossEntropy, Sgd>{{.rate = 0.02,
                                                   .momentum = 0.9,
                                                   .weight_decay = 1e-4,
                                                   .schedule = polynomial_schedule(100, 2)}});
}

TEST_CASE("curves: U-Net") {
  check_curve("unet", Single<UNet, CrossEntropy, Adam>{
                          {.rate = 5e-3, .schedule = one_cycle_schedule(100, 31, 0.1, 0.01)}});
}
