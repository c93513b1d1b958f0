// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: InstanceNorm: expected spatial extents to normalise over
// position: Layer<1>
// position: Given<6>
// position: Expected<6, 1>

#include <phyllo/layer/instance_norm.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6>, InstanceNorm<>> {};

int main() { return Wrong::parameter_count; }
