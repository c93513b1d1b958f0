// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What makes a node of a Hierarchical.

#include <phyllo/comm/hierarchical.hpp>
#include <phyllo/comm/mpi.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <algorithm>

using phyllo::Hierarchical;
using phyllo::HierarchicalOptions;
using phyllo::Mpi;

TEST_CASE("Hierarchical: neighbours that make a node have as many shares as the smallest one") {
  for (int const n : {1, 2, 3}) {
    CAPTURE(n);
    Hierarchical<Mpi> const communication(MPI_COMM_WORLD, HierarchicalOptions{.ranks_per_node = n});
    int const rest = ranks_of() % n;
    CHECK(communication.shares() == std::min({n, ranks_of(), rest == 0 ? n : rest}));
  }
  // Ranks of one machine share memory.
  CHECK(Hierarchical<Mpi>(MPI_COMM_WORLD).shares() == ranks_of());
}

TEST_CASE("Hierarchical: fewer than no ranks in a node are refused") {
  CHECK(sentence_of([] {
          Hierarchical<Mpi> const refused(MPI_COMM_WORLD,
                                          HierarchicalOptions{.ranks_per_node = -1});
        }) ==
        "Hierarchical: expected ranks_per_node to be 0 or more, got -1. 0 uses the nodes that the "
        "transport finds.");
}
