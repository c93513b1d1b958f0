// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Lag<Steps, Inner>: Steps must be 1: gradients are one step late

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/lag.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Lag<2, AllReduce<OneRank>>)); }
