// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Asynchronous<Staleness, Inner>: weights cannot be sent in 16 bits. Use Wire for

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>

using namespace phyllo;
// Like Wire.
struct Rounding : Local {
  static constexpr bool rounds_on_the_wire = true;
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Asynchronous<4, AllReduce<Rounding>>)); }
