// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: the first part must be Input
// position: Layer<0>

#include <phyllo/network/network.hpp>

using namespace phyllo;
struct Wrong : Network<> {};

int main() { return Wrong::parameter_count; }
