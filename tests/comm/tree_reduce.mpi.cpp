// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// What every rank has reaches all, bit by bit, from device memory with and without a copy on the
// host.

#include <phyllo/comm/mpi.hpp>
#include <phyllo/comm/tree_reduce.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>

#include <algorithm>
#include <string_view>

using namespace phyllo;

static_assert(ShardCommunication<TreeReduce<Mpi>> && ShardCommunication<Local>);
static_assert(std::string_view(TreeReduce<Mpi>::name) == "TreeReduce<Mpi>");

namespace {

// Rank r has `most` numbers less 5 r, the last rank none; they begin at number 3.
std::vector<long> bounds_of(int ranks, long most) {
  std::vector<long> bounds{3};
  for (int r = 0; r < ranks; ++r)
    bounds.push_back(bounds.back() + (r > 0 && r + 1 == ranks ? 0 : std::max(most - 5 * r, 0L)));
  return bounds;
}

template <class T> void gathers(MpiOptions const& options) {
  Kokkos::DefaultExecutionSpace const exec;
  TreeReduce<Mpi> tree(Mpi(MPI_COMM_WORLD, options));
  tree.reserve(exec, 8);
  long const many = std::min(10'000L, 200 * options.largest_count);  // 200 messages where small
  for (long const most : {0L, 1L, 7L, many, 3L}) {
    CAPTURE(most);
    std::vector<long> const bounds = bounds_of(tree.size(), most);
    long const size = bounds.back() + 2;
    auto const data = values_of<T>(tree.rank(), size);
    tree.begin_all_gather(exec, data.data(), bounds.data());
    tree.progress();
    tree.finish(exec);
    std::vector<T> expected = on_host(values_of<T>(tree.rank(), size));
    for (int r = 0; r < tree.size(); ++r)
      for (long i = bounds[std::size_t(r)]; i < bounds[std::size_t(r) + 1]; ++i)
        expected[std::size_t(i)] = T(value_of(r, i));
    CHECK(on_host(data) == expected);
  }
}

}  // namespace

TEST_CASE_TEMPLATE("TreeReduce<Mpi>: every rank gets what the others have", T, float, double) {
  gathers<T>({});
  gathers<T>({.staged = true});
  gathers<T>({.largest_count = 3});
  gathers<T>({.staged = true, .largest_count = 3});
}

TEST_CASE("TreeReduce<Mpi>: counts of all ranks") {
  TreeReduce<Mpi> tree(MPI_COMM_WORLD);
  std::vector<long> counts(std::size_t(tree.size()), -1), expected;
  for (int r = 0; r < tree.size(); ++r) expected.push_back((5L << 32) + r);
  tree.all_gather((5L << 32) + tree.rank(), counts.data());
  CHECK(counts == expected);
}
