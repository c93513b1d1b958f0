// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pool: .* padding from 0 to half the window
// position: Layer<1>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, MaxPool2d<3, Padding<2>>> {};

int main() { return Wrong::parameter_count; }
