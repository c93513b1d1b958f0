// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

// clang-format off
namespace networks {

template <int Level> struct level;  // what the encoder saves

template <int Width>
using DoubleConv = phyllo::Path<
    phyllo::Conv2d<Width, phyllo::Padding<1>>, phyllo::BatchNorm<>, phyllo::ReLU,
    phyllo::Conv2d<Width, phyllo::Padding<1>>, phyllo::BatchNorm<>, phyllo::ReLU>;
template <int Level, int Width>
using Encode = phyllo::Path<DoubleConv<Width>, phyllo::Save<level<Level>>, phyllo::MaxPool2d<2>>;
template <int Level, int Width>
using Decode =
    phyllo::Path<phyllo::Upsample<2>, phyllo::ConcatFrom<level<Level>>, DoubleConv<Width>>;

// Ronneberger et al., "U-Net", MICCAI 2015, with two levels, padded convolutions and upsampling.
struct UNet : phyllo::Network<
    phyllo::Input<1, 32, 48>,
    Encode<0, 8>, Encode<1, 16>,
    DoubleConv<32>,
    Decode<1, 16>, Decode<0, 8>,
    phyllo::Conv2d<2, phyllo::KernelSize<1>>> {};

}  // namespace networks
// clang-format on
