// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pool: expected one spatial extent for each dimension in its name
// position: Pooling<2,
// position: Layer<1>
// position: Given<3, 8, 8, 8>
// position: Expected<3, 8, 8>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8, 8>, MaxPool2d<2>> {};

int main() { return Wrong::parameter_count; }
