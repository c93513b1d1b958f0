// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Linear: the number of outputs must be positive
// position: Linear<0>
// position: Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, Linear<0>> {};

int main() { return Wrong::parameter_count; }
