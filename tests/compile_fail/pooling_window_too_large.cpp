// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pool: expected .* each at least the window minus twice the padding
// position: Layer<1>
// position: Given<3, 8, 5>
// position: Expected<3, 8, 6>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 5>, AveragePool2d<6>> {};

int main() { return Wrong::parameter_count; }
