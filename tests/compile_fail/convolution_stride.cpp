// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: .* channels, kernel and stride must be positive, padding must not be negative
// position: Layer<1>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 8, 8>, Conv2d<6, Stride<0>>> {};

int main() { return Wrong::parameter_count; }
