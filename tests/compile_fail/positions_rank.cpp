// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LearnedPositions, SinusoidalPositions: expected channels and one extent
// position: LearnedPositions
// position: Layer<1>
// position: Given<4>

#include <phyllo/layer/positions.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, LearnedPositions> {};

int main() { return Wrong::parameter_count; }
