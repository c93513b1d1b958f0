// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: expected at most 32 tags
// position: Named<tag<

#include <phyllo/layer/linear.hpp>
#include <phyllo/network/network.hpp>

using namespace phyllo;
template <int I> struct tag;
template <int I>
using Four = Path<Save<tag<I>>, Save<tag<I + 1>>, Save<tag<I + 2>>, Save<tag<I + 3>>>;

struct Wrong : Network<Input<3>, Four<0>, Four<4>, Four<8>, Four<12>, Four<16>, Four<20>, Four<24>,
                       Four<28>, Save<tag<32>>, Linear<3>> {};

int main() { return Wrong::parameter_count; }
