// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Concat: .* Change stride, padding or Upsample on one of the paths
// position: Layer<2>
// position: Given<1, 8, 8>
// position: Expected<1, 4, 4>

#include <phyllo/layer/pooling.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct tag;

struct Wrong : Network<Input<1, 8, 8>, Save<tag>, MaxPool2d<2>, ConcatFrom<tag>> {};

int main() { return Wrong::parameter_count; }
