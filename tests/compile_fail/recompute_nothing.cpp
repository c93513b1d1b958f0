// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Recompute: give at least one part
// position: Recompute<>
// position: Layer<1>
// position: Given<3>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3>, Recompute<>> {};

int main() { return Wrong::parameter_count; }
