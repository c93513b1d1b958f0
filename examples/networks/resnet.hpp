// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

// clang-format off
namespace networks {

/// Two convolutions of 3 x 3; Step: of the first.
template <int Width, int Step = 1> using BasicPath = phyllo::Main<
    phyllo::Conv2d<Width, phyllo::Stride<Step>, phyllo::Padding<1>, phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::Conv2d<Width, phyllo::Padding<1>, phyllo::Bias<false>>, phyllo::BatchNorm<>>;

/// To fewer channels, 3 x 3, and to 4 Width channels; Step: of the 3 x 3 convolution, as in the
/// variant called v1.5.
template <int Width, int Step = 1> using BottleneckPath = phyllo::Main<
    phyllo::Conv2d<Width, phyllo::KernelSize<1>, phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::Conv2d<Width, phyllo::Stride<Step>, phyllo::Padding<1>, phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::Conv2d<4 * Width, phyllo::KernelSize<1>, phyllo::Bias<false>>, phyllo::BatchNorm<>>;

/// The shortcut where channels or extents change.
template <int Width, int Step> using Projection = phyllo::Shortcut<
    phyllo::Conv2d<Width, phyllo::KernelSize<1>, phyllo::Stride<Step>, phyllo::Bias<false>>,
    phyllo::BatchNorm<>>;

/// Count blocks of one width. The first block has a projection.
template <int Count, int Width, int Step> using BasicStage = phyllo::Path<
    phyllo::Residual<BasicPath<Width, Step>, Projection<Width, Step>>, phyllo::ReLU,
    phyllo::Repeat<Count - 1, phyllo::Residual<BasicPath<Width>>, phyllo::ReLU>>;
template <int Count, int Width, int Step> using BottleneckStage = phyllo::Path<
    phyllo::Residual<BottleneckPath<Width, Step>, Projection<4 * Width, Step>>, phyllo::ReLU,
    phyllo::Repeat<Count - 1, phyllo::Residual<BottleneckPath<Width>>, phyllo::ReLU>>;

/// What all ResNets have in common around their stages: torchvision's layout.
///
/// shape    (N, Channels, Height, Width) -> (N, Classes)
/// source   He et al., "Deep Residual Learning for Image Recognition", CVPR 2016, table 1
template <int Channels, int Height, int Width, int Classes, class... Stages>
struct ResNet : phyllo::Network<
    phyllo::Input<Channels, Height, Width>,
    phyllo::Conv2d<64, phyllo::KernelSize<7>, phyllo::Stride<2>, phyllo::Padding<3>,
                   phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::MaxPool2d<3, phyllo::Stride<2>, phyllo::Padding<1>>,
    Stages...,
    phyllo::GlobalAveragePool, phyllo::Flatten, phyllo::Linear<Classes>> {};

/// 11,689,512 parameters by default.
template <int Channels = 3, int Height = 224, int Width = 224, int Classes = 1000>
struct ResNet18 : ResNet<Channels, Height, Width, Classes,
    phyllo::Repeat<2, phyllo::Residual<BasicPath<64>>, phyllo::ReLU>,
    BasicStage<2, 128, 2>, BasicStage<2, 256, 2>, BasicStage<2, 512, 2>> {};

/// 21,797,672 parameters by default.
template <int Channels = 3, int Height = 224, int Width = 224, int Classes = 1000>
struct ResNet34 : ResNet<Channels, Height, Width, Classes,
    phyllo::Repeat<3, phyllo::Residual<BasicPath<64>>, phyllo::ReLU>,
    BasicStage<4, 128, 2>, BasicStage<6, 256, 2>, BasicStage<3, 512, 2>> {};

/// 25,557,032 parameters by default.
template <int Channels = 3, int Height = 224, int Width = 224, int Classes = 1000>
struct ResNet50 : ResNet<Channels, Height, Width, Classes,
    BottleneckStage<3, 64, 1>, BottleneckStage<4, 128, 2>, BottleneckStage<6, 256, 2>,
    BottleneckStage<3, 512, 2>> {};

}  // namespace networks
// clang-format on
