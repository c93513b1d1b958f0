// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: CrossAttention, KeyPadding: expected a saved value with the channels of the queries
// position: AttentionScores<2
// position: Layer<4>
// position: Given<4, 5>

#include <phyllo/layer/attention.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong
    : Network<Input<6, 5>, Save<struct memory>, Linear<4, PerPosition>, CrossAttention<2, memory>> {
};

int main() { return Wrong::parameter_count; }
