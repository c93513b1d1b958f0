// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Hierarchical<Intra, Inter>: this Intra cannot send a share to each rank of a node

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/asynchronous.hpp>
#include <phyllo/comm/hierarchical.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(Hierarchical<OneRank>)); }
