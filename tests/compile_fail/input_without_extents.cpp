// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Input: expected channels and up to three spatial extents, all positive
// position: Input<>
// position: Layer<0>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<>, Linear<3>> {};

int main() { return Wrong::parameter_count; }
