// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: LocalSgd<Period, T>: Period must be 0 \(exchange on request\) or more

#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
};

int main() { return int(sizeof(LocalSgd<-1, OneRank>)); }
