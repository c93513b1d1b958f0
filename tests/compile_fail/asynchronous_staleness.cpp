// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Asynchronous<Staleness, Inner>: Staleness must be 0 or more steps

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Asynchronous<-1, AllReduce<OneRank>>)); }
