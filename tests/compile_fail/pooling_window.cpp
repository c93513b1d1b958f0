// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pool: .* window and stride must be positive
// position: Layer<1>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8>, MaxPool1d<0, Stride<1>>> {};

int main() { return Wrong::parameter_count; }
