// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: ChannelGroups must divide the channels of the layer
// position: Layer<1>
// position: Given<4, 8, 8>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 8, 8>, Conv2d<6, ChannelGroups<4>>> {};

int main() { return Wrong::parameter_count; }
