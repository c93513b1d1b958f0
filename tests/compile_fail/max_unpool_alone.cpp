// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: MaxUnpool: expected Combine<MaxUnpool..., tag>, and a value with the extents
// position: Layer<2>

#include <phyllo/layer/max_unpool.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct image;
struct Wrong : Network<Input<2, 8, 8>, MaxPool2d<2>, MaxUnpool2d<2>> {};

int main() { return Wrong::parameter_count; }
