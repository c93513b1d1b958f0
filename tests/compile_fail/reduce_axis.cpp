// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Sum, Mean, Max: the input lacks one of the axes
// position: Layer<1>
// position: Given<6>
// position: Expected<6, 1>

#include <phyllo/layer/reduce.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6>, Mean<Axis::channels, Axis::length>> {};

int main() { return Wrong::parameter_count; }
