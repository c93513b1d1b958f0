// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Upsample: the factor must be positive, and the options are LinearInterpolation
// position: Upsample<2, phyllo::Affine
// position: Layer<1>

#include <phyllo/layer/upsample.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 8, 8>, Upsample<2, Affine<false>>> {};

int main() { return Wrong::parameter_count; }
