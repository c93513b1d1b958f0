// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: From, AddFrom, ConcatFrom, MultiplyBy or Combine names a tag
// position: Named<encoder>
// position: Layer<1>

#include <phyllo/layer/convolution.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct encoder;

struct Wrong : Network<Input<1, 28, 28>, AddFrom<encoder>, Conv2d<5>> {};

int main() { return Wrong::parameter_count; }
