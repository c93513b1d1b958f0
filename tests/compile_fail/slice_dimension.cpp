// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Slice: expected a dimension of the input
// position: Slice<3, 0
// position: Layer<1>
// position: Given<3, 5>

#include <phyllo/layer/slice.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5>, Slice<3, 0, 2>> {};

int main() { return Wrong::parameter_count; }
