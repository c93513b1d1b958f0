// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Add: Residual and AddFrom require two values
// position: Add::Refused<phyllo::Layer<1>
// position: Given<>
// position: Expected<3>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3>, Add, Linear<4>> {};

int main() { return Wrong::parameter_count; }
