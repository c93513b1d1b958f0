// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/policy/communication.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// A transport that moves shares, without MPI: of one rank.
struct OneRank : Local {
  template <class Space> static void reserve(Space const&, long, long) {}
  template <class... Any> static void begin_reduce_scatter(Any const&...) {}
  template <class... Any> static void begin_all_gather(Any const&...) {}
  template <class... Any> static void begin_all_to_all(Any const&...) {}
  static OneRank split(int) { return {}; }
  static int first_of_node() { return 0; }
  static long least(long count) { return count; }
};

}  // namespace phyllo::inline PHYLLO_ISA
