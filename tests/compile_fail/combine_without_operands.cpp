// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Combine: expected a layer with `operands`
// position: Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct tag;

struct Wrong : Network<Input<3>, Save<tag>, Combine<Linear<4>, tag>> {};

int main() { return Wrong::parameter_count; }
