// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Conv: expected .* mirrored or repeated padding within the image
// position: Layer<1>
// position: Given<1, 3, 8>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 3, 8>, Conv2d<6, ReflectPadding<3>>> {};

int main() { return Wrong::parameter_count; }
