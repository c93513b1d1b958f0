// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: GatedLinearUnit: expected an even number of channels
// position: Layer<2>
// position: Given<5>

#include <phyllo/layer/gated_linear_unit.hpp>
#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, Linear<5>, GLU> {};

int main() { return Wrong::parameter_count; }
