// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Linear: the number of outputs must be positive, and the options are Bias
// position: Linear<10, phyllo::Stride<2>
// position: Layer<1>
// position: Given<4>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, Linear<10, Stride<2>>> {};

int main() { return Wrong::parameter_count; }
