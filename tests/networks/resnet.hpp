// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/global_average_pool.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

// clang-format off
namespace networks {

// He et al., "Deep Residual Learning", CVPR 2016, table 1, with the options of torchvision.
template <int Width, int Step = 1>
using Body = phyllo::Main<
    phyllo::Conv2d<Width, phyllo::Stride<Step>, phyllo::Padding<1>, phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::Conv2d<Width, phyllo::Padding<1>, phyllo::Bias<false>>, phyllo::BatchNorm<>>;
template <int Width> using BasicBlock = phyllo::Residual<Body<Width>>;
template <int Width> using DownBlock = phyllo::Residual<
    Body<Width, 2>,
    phyllo::Shortcut<
        phyllo::Conv2d<Width, phyllo::KernelSize<1>, phyllo::Stride<2>, phyllo::Bias<false>>,
        phyllo::BatchNorm<>>>;

// Count blocks of one width, the first of which halves the extents.
template <int Count, int Width>
using Stage = phyllo::Path<DownBlock<Width>, phyllo::ReLU,
                           phyllo::Repeat<Count - 1, BasicBlock<Width>, phyllo::ReLU>>;

template <int A, int B, int C, int D> struct ResNet : phyllo::Network<
    phyllo::Input<3, 224, 224>,
    phyllo::Conv2d<64, phyllo::KernelSize<7>, phyllo::Stride<2>, phyllo::Padding<3>,
                   phyllo::Bias<false>>,
    phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::MaxPool2d<3, phyllo::Stride<2>, phyllo::Padding<1>>,
    phyllo::Repeat<A, BasicBlock<64>, phyllo::ReLU>,
    Stage<B, 128>, Stage<C, 256>, Stage<D, 512>,
    phyllo::GlobalAveragePool, phyllo::Flatten, phyllo::Linear<1000>> {};

struct ResNet18 : ResNet<2, 2, 2, 2> {};
struct ResNet34 : ResNet<3, 4, 6, 3> {};

}  // namespace networks
// clang-format on
