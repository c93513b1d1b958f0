// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Crop: expected one number
// position: Crop<2>
// position: Layer<1>
// position: Given<3, 5, 4>

#include <phyllo/layer/crop.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<3, 5, 4>, Crop<2>> {};

int main() { return Wrong::parameter_count; }
