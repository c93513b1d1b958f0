// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: this part is neither a layer nor a block. A layer is a complete type
// position: NotALayer<Swish>
// position: Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Swish;

struct Wrong : Network<Input<4>, Swish, Linear<10>> {};

int main() { return Wrong::parameter_count; }
