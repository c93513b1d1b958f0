// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: this part is neither a layer nor a block
// position: NotALayer<int>
// position: Layer<2>
// position: Given<6, 26, 26>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 28, 28>, Conv2d<6>, int, Linear<10>> {};

int main() { return Wrong::parameter_count; }
