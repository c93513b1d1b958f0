// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: expected at most 32 values with a tag
// position: Named<tag>

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
struct tag;

struct Wrong : Network<Input<3>, Repeat<33, Save<tag>, Linear<3>>> {};

int main() { return Wrong::parameter_count; }
