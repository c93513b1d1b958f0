// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: AllReduce<T, BucketBytes>: BucketBytes must be 0 or more

#include <phyllo/comm/all_reduce.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(AllReduce<OneRank, -1>)); }
