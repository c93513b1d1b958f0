// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/phyllo.hpp>

// clang-format off
namespace networks {

/// LeNet-5 with all connections between the maps: 61,706 parameters for 1 x 28 x 28 pixels, or for
/// 1 x 32 x 32 with Border = 0.
///
/// shape    (N, Channels, Height, Width) -> (N, Classes)
/// options  Border: zeros around the image
/// source   LeCun et al., Proc. IEEE 86 (1998) 2278, fig. 2
template <int Channels = 1, int Height = 28, int Width = 28, int Classes = 10, int Border = 2>
struct LeNet5 : phyllo::Network<
    phyllo::Input<Channels, Height, Width>,
    phyllo::Conv2d<6, phyllo::KernelSize<5>, phyllo::Padding<Border>>, phyllo::Tanh,
    phyllo::AveragePool2d<2>,
    phyllo::Conv2d<16, phyllo::KernelSize<5>>, phyllo::Tanh,
    phyllo::AveragePool2d<2>,
    phyllo::Flatten,
    phyllo::Linear<120>, phyllo::Tanh,
    phyllo::Linear<84>, phyllo::Tanh,
    phyllo::Linear<Classes>> {};

}  // namespace networks
// clang-format on
