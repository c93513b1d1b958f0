// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: From, AddFrom, ConcatFrom, MultiplyBy or Combine names a tag
// position: Named<encoder>
// position: Layer<1>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct encoder;

struct Wrong : Network<Input<3>, From<encoder>, Linear<5>> {};

int main() { return Wrong::parameter_count; }
