// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Groups<Count, Inner, Outer>: Count must be 1 or more

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/groups.hpp>
#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Groups<0, AllReduce<OneRank>, LocalSgd<4, OneRank>>)); }
