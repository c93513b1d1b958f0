// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: SoftmaxOver: the input has no such axis
// position: Layer<1>
// position: Given<6, 3>
// position: Expected<6, 1, 3>

#include <phyllo/layer/softmax_over.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<6, 3>, SoftmaxOver<Axis::height>> {};

int main() { return Wrong::parameter_count; }
