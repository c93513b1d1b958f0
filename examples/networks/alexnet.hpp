// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

// clang-format off
namespace networks {

/// AlexNet of one tower, with torchvision's layout: 61,100,840 parameters by default.
///
/// shape    (N, Channels, Height, Width) -> (N, Classes); extents of at least 63
/// source   Krizhevsky, "One weird trick for parallelizing convolutional neural networks",
///          arXiv:1404.5997 (2014)
template <int Channels = 3, int Height = 224, int Width = 224, int Classes = 1000>
struct AlexNet : phyllo::Network<
    phyllo::Input<Channels, Height, Width>,
    phyllo::Conv2d<64, phyllo::KernelSize<11>, phyllo::Stride<4>, phyllo::Padding<2>>, phyllo::ReLU,
    phyllo::MaxPool2d<3, phyllo::Stride<2>>,
    phyllo::Conv2d<192, phyllo::KernelSize<5>, phyllo::Padding<2>>, phyllo::ReLU,
    phyllo::MaxPool2d<3, phyllo::Stride<2>>,
    phyllo::Conv2d<384, phyllo::Padding<1>>, phyllo::ReLU,
    phyllo::Conv2d<256, phyllo::Padding<1>>, phyllo::ReLU,
    phyllo::Conv2d<256, phyllo::Padding<1>>, phyllo::ReLU,
    phyllo::MaxPool2d<3, phyllo::Stride<2>>,
    phyllo::AdaptiveAveragePool2d<6>, phyllo::Flatten,
    phyllo::Dropout<0.5>, phyllo::Linear<4096>, phyllo::ReLU,
    phyllo::Dropout<0.5>, phyllo::Linear<4096>, phyllo::ReLU,
    phyllo::Linear<Classes>> {};

}  // namespace networks
// clang-format on
