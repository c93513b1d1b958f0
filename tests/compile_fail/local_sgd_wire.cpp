// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LocalSgd<Period, T>: weights cannot be sent in 16 bits. Use Wire for

#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;
// Like Wire.
struct Rounding : Local {
  static constexpr bool rounds_on_the_wire = true;
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(LocalSgd<4, Rounding>)); }
