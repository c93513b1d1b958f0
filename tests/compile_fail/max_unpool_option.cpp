// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MaxUnpool: the options are those of the MaxPool
// position: Layer<2>

#include <phyllo/layer/max_unpool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct image;
struct Wrong : Network<Input<2, 8, 8>, Save<image>, MaxPool2d<2>,
                       Combine<MaxUnpool2d<2, CountPadding<false>>, image>> {};

int main() { return Wrong::parameter_count; }
