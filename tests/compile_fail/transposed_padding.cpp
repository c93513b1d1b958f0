// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ConvTranspose: expected .* an output that has positions
// position: Layer<1>
// position: Given<1, 2, 8>

#include <phyllo/layer/transposed_convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 2, 8>, ConvTranspose2d<6, Padding<2>>> {};

int main() { return Wrong::parameter_count; }
