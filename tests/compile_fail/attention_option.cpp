// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Transformer layers: the number of heads must be positive and divide the channels, and
// position: InProjection<4, 2
// position: Layer<1>
// position: Given<4, 5>

#include <phyllo/layer/attention.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 5>, TransformerEncoderLayer<4, 2, 8, Causal, Stride<2>>> {};

int main() { return Wrong::parameter_count; }
