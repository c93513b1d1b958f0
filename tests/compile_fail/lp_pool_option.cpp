// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LpPool: the only option is Stride
// position: Layer<2>

#include <phyllo/block/lp_pool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, LpPool2d<2, 2, CeilMode>> {};

int main() { return Wrong::parameter_count; }
