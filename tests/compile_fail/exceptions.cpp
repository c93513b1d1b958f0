// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// flags: -fno-exceptions
// expect: Phyllo reports errors by exceptions\. Compile without -fno-exceptions

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

struct Mlp : phyllo::Network<phyllo::Input<4>, phyllo::Linear<2>> {};

int main() { return Mlp::parameter_count; }
