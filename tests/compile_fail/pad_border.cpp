// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Pad: expected spatial extents
// position: Pad<
// position: Layer<1>
// position: Given<3, 5>

#include <phyllo/layer/pad.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5>, Pad<ReflectPadding<5>>> {};

int main() { return Wrong::parameter_count; }
