// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SpectralConv: give the number of channels, and Modes
// position: SpectralConv2d<4
// position: Layer<1>
// position: Given<3, 8, 8>

#include <phyllo/layer/spectral_convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, SpectralConv2d<4, KernelSize<3>>> {};

int main() { return Wrong::parameter_count; }
