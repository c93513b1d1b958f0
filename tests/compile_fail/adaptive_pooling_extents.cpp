// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: AdaptivePool: the extents of the result are one positive number
// position: Layer<1>

#include <phyllo/layer/adaptive_pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 8, 8>, AdaptiveAveragePool2d<2, 2, 2>> {};

int main() { return Wrong::parameter_count; }
