// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: .* all parameters up to here, have more than 2147483647 elements
// position: TooLarge<phyllo::Linear<20000>, phyllo::Layer<6>
// position: Given<20000>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<20000>, Repeat<6, Linear<20000>>> {};

int main() { return Wrong::parameter_count; }
