// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pool: the options are Stride and Padding
// position: Layer<1>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, MaxPool2d<2, CountPadding<false>>> {};

int main() { return Wrong::parameter_count; }
