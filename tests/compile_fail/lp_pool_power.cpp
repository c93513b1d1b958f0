// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: WholePower, LpPool: the power must be positive
// position: WholePower<0>
// position: Layer<1>

#include <phyllo/block/lp_pool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, LpPool2d<0, 2>> {};

int main() { return Wrong::parameter_count; }
