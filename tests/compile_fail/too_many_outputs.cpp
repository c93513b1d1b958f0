// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: expected at most 32 values .* at most 8 outputs
// position: Named<Tag<8>
// position: Layer<1>

#include <phyllo/network/network.hpp>

using namespace phyllo;
template <int> struct Tag;
template <int First>
using Three = Path<Output<Tag<First>>, Output<Tag<First + 1>>, Output<Tag<First + 2>>>;
struct Wrong : Network<Input<3>, Three<0>, Three<3>, Three<6>> {};

int main() { return Wrong::parameter_count; }
