// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: .* more than 2147483647 elements
// position: TooLarge<phyllo::Linear<100000>, phyllo::Layer<1>
// position: Given<100000>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<100000>, Linear<100000>, Linear<2>> {};

int main() { return Wrong::parameter_count; }
