// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: ConvTranspose: OutputPadding must be smaller than Stride or Dilation
// position: Layer<1>
// position: Given<1, 3, 8>

#include <phyllo/layer/transposed_convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 3, 8>, ConvTranspose2d<6, Stride<2>, OutputPadding<2>>> {};

int main() { return Wrong::parameter_count; }
