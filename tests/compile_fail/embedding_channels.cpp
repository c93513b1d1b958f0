// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Embedding: expected integers of one extent, or with one channel. Use
// IntegerInput<positions> position: Embedding<10, 3> position: Layer<1> position: Given<2, 4>

#include <phyllo/layer/embedding.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<IntegerInput<2, 4>, Embedding<10, 3>> {};

int main() { return Wrong::parameter_count; }
