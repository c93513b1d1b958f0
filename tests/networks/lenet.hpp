// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/network/network.hpp>

// clang-format off
namespace networks {

// LeCun et al., Proc. IEEE 86 (1998) 2278, fig. 2, with all connections between the maps.
struct LeNet : phyllo::Network<
    phyllo::Input<1, 28, 28>,
    phyllo::Conv2d<6, phyllo::KernelSize<5>, phyllo::Padding<2>>, phyllo::Tanh,
    phyllo::AveragePool2d<2>,
    phyllo::Conv2d<16, phyllo::KernelSize<5>>,                    phyllo::Tanh,
    phyllo::AveragePool2d<2>,
    phyllo::Flatten,
    phyllo::Linear<120>, phyllo::Tanh,
    phyllo::Linear<84>,  phyllo::Tanh,
    phyllo::Linear<10>> {};

}  // namespace networks
// clang-format on
