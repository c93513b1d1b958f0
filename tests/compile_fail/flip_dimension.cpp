// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Flip: expected dimensions of the input
// position: Flip<0>
// position: Layer<1>
// position: Given<3, 5>

#include <phyllo/layer/flip.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5>, Flip<0>> {};

int main() { return Wrong::parameter_count; }
