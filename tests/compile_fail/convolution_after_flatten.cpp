// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: expected one spatial extent for each dimension in its name
// position: Convolution<2, 6>
// position: Layer<2>
// position: Given<784>
// position: Expected<784, 3, 3>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/flatten.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 14, 14>, Flatten, Conv2d<6>> {};

int main() { return Wrong::parameter_count; }
