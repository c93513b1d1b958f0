// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Groups<Count, Inner, Outer>: Inner must sum all gradients in the step that computes them

#include <phyllo/comm/groups.hpp>
#include <phyllo/comm/local_sgd.hpp>

using namespace phyllo;
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
  template <class... Any> static void begin_reduce_scatter(Any const&...) {}
  template <class... Any> static void begin_all_gather(Any const&...) {}
  template <class... Any> static void begin_all_to_all(Any const&...) {}
  static OneRank split(int) { return {}; }
  static int first_of_node() { return 0; }
  static long least(long count) { return count; }
};

int main() { return int(sizeof(Groups<2, LocalSgd<4, OneRank>, LocalSgd<4, OneRank>>)); }
