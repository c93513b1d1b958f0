// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: From, AddFrom, ConcatFrom, MultiplyBy or Combine names a tag
// position: Named<encoder>
// position: Layer<2>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct encoder;

struct Wrong : Network<Input<3>, Linear<5>, From<encoder>> {};

int main() { return Wrong::parameter_count; }
