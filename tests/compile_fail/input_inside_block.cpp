// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: the first part must be Input
// position: NoInput<phyllo::Add, phyllo::Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Residual<Input<3>>, Linear<5>> {};

int main() { return Wrong::parameter_count; }
