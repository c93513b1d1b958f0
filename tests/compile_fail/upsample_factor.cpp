// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Upsample: the factor must be positive
// position: Upsample<0>
// position: Layer<1>
// position: Given<1, 4, 4>

#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<1, 4, 4>, Upsample<0>> {};

int main() { return Wrong::parameter_count; }
