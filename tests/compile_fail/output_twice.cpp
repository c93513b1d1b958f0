// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: two Output parts have the same tag
// position: Named<energy>
// position: Layer<3>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct energy;

struct Wrong : Network<Input<3>, Linear<5>, Output<energy>, Linear<5>, Output<energy>> {};

int main() { return Wrong::parameter_count; }
