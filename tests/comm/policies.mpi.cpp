// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Policies that sum gradients give the bits of one rank with the whole batch.

#include <comm/policies.hpp>

#include <doctest/doctest.h>

#include <string>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr Sgd rule{.rate = 0.25f, .momentum = 0.5f};

template <class Net, class P = Full<double>> std::vector<double> one_rank(int steps) {
  Run<Net, Local, P> run(rule);
  for (int s = 0; s < steps; ++s) run.step(s, {0, 8});
  return run.weights();
}

template <class Net, class C, class P = Full<double>, class... Options>
std::vector<double> all_ranks(int steps, bool some_empty, Options const&... options) {
  Run<Net, C, P> run(rule, MPI_COMM_WORLD, options...);
  for (int s = 0; s < steps; ++s) run.step(s, rows_of(batches(some_empty), rank_of()));
  run.trainer.synchronize();
  return run.weights();
}

template <class C, class... Options> void equals_one_rank(Options const&... options) {
  CAPTURE(C::name);
  for (bool const some_empty : {false, true}) {
    CHECK(all_ranks<Single, C>(3, some_empty, options...) == one_rank<Single>(3));
    CHECK(all_ranks<Deep, C>(2, some_empty, options...) == one_rank<Deep>(2));
  }
  CHECK(all_ranks<Single, C, Full<float>>(1, true, options...) == one_rank<Single, Full<float>>(1));
}

}  // namespace

TEST_CASE("policies: AllReduce, in all sizes of buckets") {
  equals_one_rank<AllReduce<Mpi>>();
  equals_one_rank<AllReduce<Mpi, 0>>();
  equals_one_rank<AllReduce<Mpi, 4>>();
  equals_one_rank<AllReduce<Mpi, 260>>();
  equals_one_rank<AllReduce<Mpi, 64>>(MpiOptions{.staged = true});
  equals_one_rank<AllReduce<Mpi, 64>>(MpiOptions{.largest_count = 3});
}

TEST_CASE("policies: Hierarchical, by the machine's nodes and by others") {
  equals_one_rank<Hierarchical<Mpi>>();
  for (int const ranks_per_node : {1, 2, 3, 4, 100}) {
    equals_one_rank<Hierarchical<Mpi>>(HierarchicalOptions{ranks_per_node});
    equals_one_rank<Hierarchical<Mpi, Mpi, 4>>(HierarchicalOptions{ranks_per_node});
  }
  Hierarchical<Mpi> const pairs(MPI_COMM_WORLD, {.ranks_per_node = 2});
  CHECK(pairs.shares() == (ranks_of() % 2 == 0 ? 2 : 1));
}

TEST_CASE("policies: Sharded keeps a share of the optimizer's state, and all of the weights") {
  equals_one_rank<Sharded<AllReduce<Mpi>>>();
  equals_one_rank<Sharded<AllReduce<Mpi, 4>>>();
  equals_one_rank<Sharded<AllReduce<Mpi, 64>>>(MpiOptions{.staged = true});
  Run<Deep, Sharded<AllReduce<Mpi>>> run(rule, MPI_COMM_WORLD);
  long const own = long(run.rule_state().size());
  long all = own;
  MPI_Allreduce(MPI_IN_PLACE, &all, 1, MPI_LONG, MPI_SUM, MPI_COMM_WORLD);
  CHECK(all == Deep::program::nodes.arena_size);
  CHECK(own <= (all / ranks_of() + Shares::unit));
}

TEST_CASE("policies: Sharded in mixed precision, with Adam") {
  using P = Mixed<bf16, float>;
  Run<Single, Local, P, Adam> one(Adam{.rate = 0.125f});
  Run<Single, Sharded<AllReduce<Mpi>>, P, Adam> all(Adam{.rate = 0.125f}, MPI_COMM_WORLD);
  one.step(0, {0, 8});
  all.step(0, rows_of(batches(false), rank_of()));
  auto const rounded = [](auto& run) {
    std::vector<float> numbers;
    auto const host =
        Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, run.trainer.model().parameters());
    for (std::size_t i = 0; i < host.extent(0); ++i) numbers.push_back(float(host(i)));
    return numbers;
  };
  CHECK(rounded(all) == rounded(one));  // gathered after each step
  all.trainer.synchronize();
  CHECK(all.weights() == one.weights());  // gathered when asked
}

TEST_CASE("policies: numbers of eight bits pass Wire<bf16> unchanged") {
  auto const gradients = [](auto&& run, std::pair<int, int> rows) {
    run.step(1, rows);
    return run.weights();
  };
  for (bool const some_empty : {false, true}) {
    auto const rows = rows_of(batches(some_empty), rank_of());
    auto const one = gradients(Run<Single, Local, Full<float>>(rule), {0, 8});
    CHECK(gradients(Run<Single, AllReduce<Wire<bf16, Mpi>>, Full<float>>(rule, MPI_COMM_WORLD),
                    rows) == one);
    CHECK(gradients(Run<Single, AllReduce<Wire<fp16, Mpi>, 16>, Full<float>>(rule, MPI_COMM_WORLD),
                    rows) == one);
    CHECK(gradients(Run<Single, Hierarchical<Mpi, Wire<bf16, Mpi>>, Full<float>>(
                        rule, MPI_COMM_WORLD, HierarchicalOptions{2}),
                    rows) == one);
    CHECK(gradients(
              Run<Single, Lag<1, AllReduce<Wire<bf16, Mpi>>>, Full<float>>(rule, MPI_COMM_WORLD),
              rows) == Run<Single, Local, Full<float>>(rule).weights());
  }
}

TEST_CASE("policies: Lag takes the step of the gradients before") {
  using OneRank = Lag<1, Local>;
  constexpr Sgd plain{.rate = 0.25f};
  Run<Deep, Local> direct(plain);
  Run<Deep, OneRank> late(plain, Local{});
  auto const start = direct.weights();
  direct.step(0, {0, 8});
  late.step(0, {0, 8});
  CHECK(late.weights() == start);
  late.step(0, {0, 8});
  CHECK(late.weights() == direct.weights());
  CHECK(late.trainer.loss() == direct.trainer.loss());
  late.step(0, {0, 8});  // the gradients at the start once more
  auto const twice = late.weights(), once = direct.weights();
  for (std::size_t i = 0; i < start.size(); ++i)
    CHECK(twice[i] - start[i] == 2 * (once[i] - start[i]));

  for (bool const some_empty : {false, true}) {
    Run<Single, OneRank> one(rule, Local{});
    for (int s = 0; s < 4; ++s) one.step(s, {0, 8});
    CHECK(all_ranks<Single, Lag<1, AllReduce<Mpi>>>(4, some_empty) == one.weights());
    CHECK(all_ranks<Single, Lag<1, AllReduce<Mpi, 4>>>(4, some_empty) == one.weights());
    CHECK(all_ranks<Single, Lag<1, Hierarchical<Mpi>>>(4, some_empty) == one.weights());
  }
}

TEST_CASE("policies: Lag divides gradients by the loss scale that they were computed with") {
  using C = Lag<1, AllReduce<Mpi>>;
  using Late = Run<Single, C, Mixed<fp16, float>>;
  constexpr Sgd plain{.rate = 1.0f / 64};
  auto const rows = rows_of(batches(false), rank_of());
  Late fixed({.scaling = {.initial = 1, .interval = 1000}}, plain, MPI_COMM_WORLD);
  Late doubled({.scaling = {.initial = 1, .interval = 2}}, plain, MPI_COMM_WORLD);
  for (int s = 0; s < 8; ++s) {
    fixed.step(s, rows);
    doubled.step(s, rows);
  }
  CHECK(fixed.state().loss_scale == 1);
  CHECK(doubled.state().loss_scale > 4);
  CHECK(doubled.weights() == fixed.weights());
  CHECK(fixed.weights() != Late(plain, MPI_COMM_WORLD).weights());
}

TEST_CASE("policies: under Lag an overflow halves the loss scale once, on all ranks") {
  using C = Lag<1, AllReduce<Mpi>>;
  constexpr Sgd plain{.rate = 1.0f / 64};
  auto const rows = rows_of(batches(false), rank_of());
  for (int const overflows : {1, 2}) {
    Run<Single, C, Mixed<fp16, float>> run({.scaling = {.initial = 1024}}, plain, MPI_COMM_WORLD);
    for (int s = 0; s < 8; ++s) {
      Table x = integers(4, s), t = integers(4, s + 31);
      bool const is_last = rank_of() == ranks_of() - 1;
      if (is_last && s > 0 && s <= overflows) t(std::size_t(rows.first), 0) = 1e30;
      run.step(x, t, rows);
    }
    // The second is of gradients that were on their way when the scale came down. The first step
    // has no gradients.
    CHECK(run.state().loss_scale == 512);
    CHECK(run.state().skipped == std::uint64_t(1 + overflows));
    CHECK(run.state().step == std::uint64_t(8 - 1 - overflows));
  }
}

TEST_CASE("policies: their names say what they are made of") {
  CHECK(std::string(AllReduce<Wire<bf16, Mpi>>::name) == "AllReduce<Wire<bf16, Mpi>>");
  CHECK(std::string(Hierarchical<Mpi>::name) == "Hierarchical<Mpi, Mpi>");
  CHECK(std::string(Lag<1, AllReduce<Mpi>>::name) == "Lag<AllReduce<Mpi>>");
}
