// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Multiply: MultiplyBy requires two values of the same shape
// position: Layer<2>
// position: Given<3>
// position: Expected<4>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct tag;

struct Wrong : Network<Input<3>, Save<tag>, Linear<4>, MultiplyBy<tag>> {};

int main() { return Wrong::parameter_count; }
