// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Linear: expected one extent .* Put Flatten before it
// position: Linear<10>
// position: Layer<3>
// position: Given<6, 26, 26>
// position: Expected<4056>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 28, 28>, Conv2d<6>, ReLU, Linear<10>> {};

int main() { return Wrong::parameter_count; }
