// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Add: Residual and AddFrom require two values of the same shape
// position: Add::Refused<phyllo::Layer<3>
// position: Given<1, 28, 28>
// position: Expected<6, 26, 26>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 28, 28>, Residual<Conv2d<6>, ReLU>, Conv2d<5>> {};

int main() { return Wrong::parameter_count; }
