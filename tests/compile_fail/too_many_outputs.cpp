// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: at most 32 values .* at most 8 are outputs
// position: Named<Tag<8>
// position: Layer<1>

#include <phyllo/network/network.hpp>

using namespace phyllo;
template <int> struct Tag;

struct Wrong : Network<Input<3>, Output<Tag<0>>, Output<Tag<1>>, Output<Tag<2>>, Output<Tag<3>>,
                       Output<Tag<4>>, Output<Tag<5>>, Output<Tag<6>>, Output<Tag<7>>,
                       Output<Tag<8>>> {};

int main() { return Wrong::parameter_count; }
