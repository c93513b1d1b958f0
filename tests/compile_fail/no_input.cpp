// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: the first part must be Input
// position: NoInput<phyllo::ReLU, phyllo::Layer<0>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/layer/relu.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<ReLU, Conv2d<5>> {};

int main() { return Wrong::parameter_count; }
