// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: .* more than 2147483647 elements
// position: TooLarge<phyllo::Input<3, 100000, 100000>, phyllo::Layer<0>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 100000, 100000>, Conv2d<8>> {};

int main() { return Wrong::parameter_count; }
