// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MultiheadAttention, CrossAttention, Transformer layers: expected channels and one extent
// position: InProjection<0, 3
// position: Layer<1>
// position: Given<4, 5>
// position: Expected<6, 5>

#include <phyllo/layer/attention.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4, 5>, MultiheadAttention<3>> {};

int main() { return Wrong::parameter_count; }
