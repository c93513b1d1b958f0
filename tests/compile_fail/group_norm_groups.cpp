// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: GroupNorm: the number of groups must divide the channels
// position: Layer<1>
// position: Given<6, 3>
// position: Expected<8, 3>

#include <phyllo/layer/group_norm.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 3>, GroupNorm<4>> {};

int main() { return Wrong::parameter_count; }
