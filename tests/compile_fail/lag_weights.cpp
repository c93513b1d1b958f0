// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Lag<Steps, Inner>: Inner must sum gradients, as AllReduce and Hierarchical do

#include <phyllo/comm/lag.hpp>
#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Lag<1, LocalSgd<4, OneRank>>)); }
