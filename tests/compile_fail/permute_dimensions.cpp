// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Permute: expected every dimension
// position: Permute<1, 3>
// position: Layer<1>
// position: Given<3, 5>

#include <phyllo/layer/permute.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5>, Permute<1, 3>> {};

int main() { return Wrong::parameter_count; }
