// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: TreeReduce: it adds sums of shards, which only a Trainer with Reproducible computes

#include <phyllo/phyllo.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() {
  TreeReduce<OneRank> communication{OneRank()};
  float gradients[2] = {};
  communication.begin(Kokkos::DefaultExecutionSpace(), gradients, 2);
}
