// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Add: .* Use a Shortcut with the same stride and channels
// position: Layer<3>
// position: Given<6, 8, 8>
// position: Expected<6, 4, 4>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
using Half = Main<Conv2d<6, Stride<2>, Padding<1>>>;
struct Wrong : Network<Input<1, 8, 8>, Residual<Half, Shortcut<Conv2d<6, KernelSize<1>>>>> {};

int main() { return Wrong::parameter_count; }
