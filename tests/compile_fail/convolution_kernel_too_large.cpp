// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: expected .* each at least the extent of the kernel minus the padding
// position: Convolution<2, 6, phyllo::KernelSize<7>
// position: Layer<1>
// position: Given<1, 4, 28>
// position: Expected<1, 5, 28>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 4, 28>, Conv2d<6, KernelSize<7>, Padding<1>>> {};

int main() { return Wrong::parameter_count; }
