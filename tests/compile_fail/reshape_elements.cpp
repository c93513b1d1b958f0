// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Reshape: expected one to four positive extents
// position: Reshape<4, -1>
// position: Layer<1>
// position: Given<3, 5>

#include <phyllo/layer/reshape.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5>, Reshape<4, -1>> {};

int main() { return Wrong::parameter_count; }
