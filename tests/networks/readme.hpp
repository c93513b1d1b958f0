// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

// clang-format off
// The network on the first page, under the name that it has there.
struct LeNet : phyllo::Network<
    phyllo::Input<1, 28, 28>,
    phyllo::Conv2d<6, phyllo::KernelSize<5>, phyllo::Padding<2>>, phyllo::ReLU,
    phyllo::MaxPool2d<2>,
    phyllo::Conv2d<16, phyllo::KernelSize<5>>,                    phyllo::ReLU,
    phyllo::MaxPool2d<2>,
    phyllo::Flatten, phyllo::Linear<120>, phyllo::ReLU, phyllo::Linear<84>, phyllo::ReLU,
    phyllo::Linear<10>> {};
// clang-format on
