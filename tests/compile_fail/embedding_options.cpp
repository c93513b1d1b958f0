// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Embedding<entries, channels>: both numbers must be positive
// position: Embedding<0, 3>
// position: Layer<1>

#include <phyllo/layer/embedding.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<IntegerInput<4>, Embedding<0, 3>> {};

int main() { return Wrong::parameter_count; }
