// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: a second value has the tag of a NamedInput
// position: Named<energy>
// position: Layer<3>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct energy;

struct Wrong : Network<NamedInput<energy, 3>, Linear<5>, NamedInput<energy, 2>, Linear<5>> {};

int main() { return Wrong::parameter_count; }
