// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Network: this layer does not accept the shape of its input
// position: RefusedBy<Pairs, phyllo::Layer<1>
// position: Given<7>
// position: Expected<8>

#include <phyllo/network/network.hpp>

using namespace phyllo;

struct Pairs {
  static constexpr char const* name = "pairs";
  static constexpr Role role = Role::pointwise;
  static constexpr Derivative derivative_of = Derivative::input;
  static constexpr bool accepts(Shape s) { return s.channels % 2 == 0; }
  static constexpr Shape expected(Shape s) { return s.with_channels(s.channels + 1); }
  static constexpr Shape output(Shape s) { return s; }
};

struct Wrong : Network<Input<7>, Pairs, Pairs> {};

int main() { return Wrong::parameter_count; }
