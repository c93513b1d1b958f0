// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ChannelDropout: the probability must be in .0, 1.
// position: ChannelDropout<1
// position: Layer<1>
// position: Given<3, 8, 8>

#include <phyllo/layer/dropout.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, Dropout2d<1.0>> {};

int main() { return Wrong::parameter_count; }
