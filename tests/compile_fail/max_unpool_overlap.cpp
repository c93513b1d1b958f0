// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MaxUnpool: expected a stride of at least the window
// position: Layer<2>

#include <phyllo/layer/max_unpool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct image;
struct Wrong : Network<Input<2, 8, 8>, Save<image>, MaxPool2d<3, Stride<2>>,
                       Combine<MaxUnpool2d<3, Stride<2>>, image>> {};

int main() { return Wrong::parameter_count; }
