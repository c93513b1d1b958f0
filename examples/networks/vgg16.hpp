// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

// clang-format off
namespace networks {

/// Count convolutions of one width, then half the extents.
template <int Count, int Width> using ConvolutionsAndPool = phyllo::Path<
    phyllo::Repeat<Count, phyllo::Path<phyllo::Conv2d<Width, phyllo::Padding<1>>, phyllo::ReLU>>,
    phyllo::MaxPool2d<2>>;

/// VGG-16, configuration D, with torchvision's layout: 138,357,544 parameters by default.
///
/// shape    (N, Channels, Height, Width) -> (N, Classes); extents of at least 32
/// source   Simonyan and Zisserman, "Very Deep Convolutional Networks for Large-Scale Image
///          Recognition", ICLR 2015, table 1
template <int Channels = 3, int Height = 224, int Width = 224, int Classes = 1000>
struct VGG16 : phyllo::Network<
    phyllo::Input<Channels, Height, Width>,
    ConvolutionsAndPool<2, 64>, ConvolutionsAndPool<2, 128>, ConvolutionsAndPool<3, 256>,
    ConvolutionsAndPool<3, 512>, ConvolutionsAndPool<3, 512>,
    phyllo::AdaptiveAveragePool2d<7>, phyllo::Flatten,
    phyllo::Linear<4096>, phyllo::ReLU, phyllo::Dropout<0.5>,
    phyllo::Linear<4096>, phyllo::ReLU, phyllo::Dropout<0.5>,
    phyllo::Linear<Classes>> {};

}  // namespace networks
// clang-format on
