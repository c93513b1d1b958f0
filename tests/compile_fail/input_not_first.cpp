// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: the first part must be Input
// position: NoInput<phyllo::Linear<4>, phyllo::Layer<0>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Linear<4>, Input<3>, Linear<5>> {};

int main() { return Wrong::parameter_count; }
