// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Upsample: expected spatial extents, two of them with CubicInterpolation
// position: Upsample<2, phyllo::CubicInterpolation
// position: Layer<1>

#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8>, Upsample<2, CubicInterpolation>> {};

int main() { return Wrong::parameter_count; }
