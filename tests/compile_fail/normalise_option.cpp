// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Normalise: the options are MinMax and PerElement
// position: Normalise<int>
// position: Layer<1>
// position: Given<10>

#include <phyllo/layer/normalise.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, Normalise<int>> {};

int main() { return Wrong::parameter_count; }
