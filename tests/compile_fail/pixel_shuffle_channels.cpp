// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: PixelShuffle: expected a positive factor
// position: PixelShuffle<2>
// position: Layer<1>
// position: Given<6, 5, 5>

#include <phyllo/layer/pixel_shuffle.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 5, 5>, PixelShuffle<2>> {};

int main() { return Wrong::parameter_count; }
