// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Groups<Count, Inner, Outer>: this transport cannot be split into groups

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>
#include <phyllo/comm/groups.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() {
  return int(sizeof(Groups<2, AllReduce<OneRank>, Asynchronous<2, AllReduce<OneRank>>>));
}
