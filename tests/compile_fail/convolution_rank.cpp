// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: expected one spatial extent for each dimension in its name
// position: Convolution<2, 6>
// position: Layer<1>
// position: Given<4, 28>
// position: Expected<4, 3, 28>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 28>, Conv2d<6>> {};

int main() { return Wrong::parameter_count; }
