// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
// expect: Wire<Narrow, T>: Narrow must be bf16 or fp16

#include <phyllo/comm/wire.hpp>

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

int main() { return int(sizeof(Wire<double, OneRank>)); }
