// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/layer/batch_norm.hpp>
#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/dropout.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/layer/gelu.hpp>
#include <phyllo/layer/global_average_pool.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/pooling.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/layer/sigmoid.hpp>
#include <phyllo/layer/softmax.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

// The networks that are called inside kernels by the tests: together every role of a node, and
// every way in which steps are fused for inference.
namespace in_kernel_test {

using namespace phyllo;

struct Perceptron
    : Network<Input<5>, Linear<33>, Tanh, Linear<40>, ReLU, Linear<7>, GELU, Linear<3>> {};
struct Rate : Network<Input<2>, Linear<16>, Tanh, Linear<1>> {};
struct SmallLeNet
    : Network<Input<1, 8, 8>, Conv2d<2, KernelSize<3>, Padding<1>>, ReLU, MaxPool2d<2>,
              Conv2d<5, KernelSize<3>>, ReLU, Flatten, Linear<9>, Tanh, Linear<4>> {};
struct NormalizedResidual
    : Network<Input<3, 5, 4>, Conv2d<6, KernelSize<3>, Padding<1>, Bias<false>>, BatchNorm<>, ReLU,
              Residual<Conv2d<6, KernelSize<3>, Padding<1>>, BatchNorm<>>, ReLU, BatchNorm<>,
              Sigmoid, AveragePool2d<3, Stride<2>, Padding<1>>, Flatten> {};
struct encoder;
struct UNet : Network<Input<2, 4, 4>, Conv2d<3, KernelSize<3>, Padding<1>>, ReLU, Save<encoder>,
                      MaxPool2d<2>, Conv2d<4, KernelSize<3>, Padding<1>>, GELU, Upsample<2>,
                      ConcatFrom<encoder>, Conv2d<2>> {};
struct Classifier : Network<Input<4, 9>, Conv1d<6, KernelSize<3>, Stride<2>>, Tanh, Dropout<0.3>,
                            GlobalAveragePool, Flatten, Linear<5>, Softmax> {};
struct Volume : Network<Input<2, 3, 4, 3>, Conv3d<3, KernelSize<2>>, ReLU, Flatten, Softmax> {};
struct state;
struct forcing;
struct rate;
struct flux;
struct TwoHeads : Network<NamedInput<state, 3>, Linear<6>, Tanh, Save<encoder>,
                          NamedInput<forcing, 2>, Linear<4>, ReLU, ConcatFrom<encoder>, Save<rate>,
                          Linear<1>, Output<rate>, From<rate>, Linear<3>, Sigmoid, Output<flux>> {};
struct Wide : Network<Input<1, 12, 12>, Conv2d<4, KernelSize<5>, Padding<2>>, ReLU, MaxPool2d<2>,
                      Flatten, Linear<10>> {};

}  // namespace in_kernel_test
