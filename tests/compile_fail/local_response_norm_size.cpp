// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LocalResponseNorm: the size and K must be positive, and Alpha not negative
// position: LocalResponseNorm<0
// position: Layer<1>

#include <phyllo/layer/local_response_norm.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<Input<8, 4, 4>, LocalResponseNorm<0>> {};

int main() { return Wrong::parameter_count; }
