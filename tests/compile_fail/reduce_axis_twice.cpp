// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Sum, Mean, Max: name at least one axis, each once
// position: Layer<1>

#include <phyllo/layer/reduce.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 3>, Max<Axis::width, Axis::length>> {};

int main() { return Wrong::parameter_count; }
