// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Denormalise: the options are MinMax and PerElement
// position: Denormalise<int>
// position: Layer<1>
// position: Given<10>

#include <phyllo/layer/normalise.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, Denormalise<int>> {};

int main() { return Wrong::parameter_count; }
