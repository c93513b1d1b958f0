// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: this layer reads integers, and its input are numbers. Begin with IntegerInput<extents...>
// position: Embedding<10, 3>
// position: Layer<2>

#include <phyllo/layer/embedding.hpp>
#include <phyllo/layer/tanh.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<4>, Tanh, Embedding<10, 3>> {};

int main() { return Wrong::parameter_count; }
