// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Upsample: expected spatial extents, got channels only
// position: Upsample<2>
// position: Layer<1>
// position: Given<10>
// position: Expected<10, 1, 1>

#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<10>, Upsample<2>> {};

int main() { return Wrong::parameter_count; }
