// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Transformer layers: expected channels and one extent, .* into an even number with Rotary
// position: Layer<1>

#include <phyllo/block/transformer.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 5>, TransformerEncoderLayer<6, 2, 7, Rotary<>>> {};

int main() { return Wrong::parameter_count; }
