// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// A rank whose program was compiled with another version of Phyllo: its line comes first.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/phyllo.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

using namespace phyllo;

TEST_CASE("Agreement: another version of Phyllo is refused before anything else") {
  AllReduce<Mpi> communication = MPI_COMM_WORLD;
  std::string const other = std::string(version) + ".1";
  bool const is_last = rank_of() == ranks_of() - 1;
  Agreement mine;
  mine.add("Phyllo", is_last ? other : std::string(version));
  mine.add("network", is_last ? "Wide" : "Narrow");
  std::string const sentence =
      sentence_of([&] { agree(Kokkos::DefaultExecutionSpace{}, communication, "Narrow", mine); });
  if (ranks_of() == 1)
    CHECK(sentence == "");
  else
    CHECK(sentence == "Narrow: expected the same training on all " + std::to_string(ranks_of()) +
                          " ranks, got \"Phyllo: " + std::string(version) +
                          "\" on rank 0 and \"Phyllo: " + other + "\" on rank " +
                          std::to_string(ranks_of() - 1) +
                          ". Start one program with one set of options on all ranks.");
}
