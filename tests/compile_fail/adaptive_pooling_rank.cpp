// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: AdaptivePool: expected one spatial extent for each dimension in its name
// position: Layer<1>
// position: Given<6, 8>
// position: Expected<6, 1, 8>

#include <phyllo/layer/adaptive_pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 8>, AdaptiveMaxPool2d<2>> {};

int main() { return Wrong::parameter_count; }
