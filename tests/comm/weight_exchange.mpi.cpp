// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Policies that exchange weights, bit for bit against all ranks played by one: a trainer for each,
// whose weights are averaged on the host as the policies' documents say.

#include <comm/policies.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <cstdint>
#include <deque>
#include <limits>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr Sgd plain{.rate = 0.25f};
constexpr Sgd rule{.rate = 0.25f, .momentum = 0.5f};
using Numbers = std::vector<double>;

/// All ranks in one.
template <class Net> struct Played {
  using One = Run<Net, Local>;
  std::deque<One> ranks;
  std::vector<int> sizes;
  std::vector<double> samples;  // of each rank since its last exchange began

  Played(Sgd const& with, std::vector<int> const& batches)
      : sizes(batches), samples(batches.size(), 0.0) {
    for (std::size_t r = 0; r < batches.size(); ++r) ranks.emplace_back(with);
  }
  void step(int number) {
    for (std::size_t r = 0; r < ranks.size(); ++r) {
      ranks[r].step(number, rows_of(sizes, int(r)));
      samples[r] += sizes[r];
    }
  }
  static auto& weights(One& one) { return one.trainer.model().master(); }
  std::vector<Numbers> copies() {
    std::vector<Numbers> all;
    for (One& one : ranks) all.push_back(one.weights());
    return all;
  }
  /// What an exchange of these copies brings; samples start anew.
  Numbers mean(std::vector<Numbers> const& all) {
    Numbers sum(all[0].size(), 0.0);
    double count = 0;
    for (std::size_t r = 0; r < all.size(); ++r) {
      for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += samples[r] * all[r][i];
      count += samples[r];
      samples[r] = 0;
    }
    for (double& x : sum) x /= count;
    return sum;
  }
  void set(std::size_t r, Numbers const& to) {
    auto const host = Kokkos::create_mirror(weights(ranks[r]));
    for (std::size_t i = 0; i < to.size(); ++i) host(i) = to[i];
    Kokkos::deep_copy(weights(ranks[r]), host);
  }
  void average() {
    Numbers const to = mean(copies());
    for (std::size_t r = 0; r < ranks.size(); ++r) set(r, to);
  }
};

std::pair<int, int> own_rows(bool some_empty) { return rows_of(batches(some_empty), rank_of()); }

template <class C> Numbers trained(int steps, bool some_empty, Sgd const& with) {
  Run<Single, C> run(with, MPI_COMM_WORLD);
  for (int s = 0; s < steps; ++s) run.step(s, own_rows(some_empty));
  run.trainer.synchronize();
  return run.weights();
}

template <class C> constexpr int groups_of = 1;
template <int Count, class Inner, class Outer>
constexpr int groups_of<Groups<Count, Inner, Outer>> = Count;

}  // namespace

TEST_CASE("weights: exchanged in every step they are those of AllReduce") {
  for (bool const some_empty : {false, true}) {
    Numbers const all = trained<AllReduce<Mpi>>(3, some_empty, rule);
    CHECK(trained<LocalSgd<1, Mpi>>(3, some_empty, rule) == all);
    CHECK(trained<Asynchronous<0, AllReduce<Mpi>>>(3, some_empty, rule) == all);
    CHECK(trained<Asynchronous<0, Hierarchical<Mpi>>>(3, some_empty, rule) == all);
    CHECK(trained<Groups<1, AllReduce<Mpi>, Asynchronous<2, AllReduce<Mpi>>>>(3, some_empty,
                                                                              rule) == all);
  }
}

TEST_CASE("weights: LocalSgd averages every so many steps, by samples") {
  for (bool const some_empty : {false, true}) {
    Run<Single, LocalSgd<2, Mpi>> run(plain, MPI_COMM_WORLD);
    Played<Single> played(plain, batches(some_empty));
    auto const own = std::size_t(rank_of());
    for (int s = 0; s < 5; ++s) {
      run.step(s, own_rows(some_empty));
      played.step(s);
      if (s % 2 == 1) played.average();
      CHECK(run.weights() == played.copies()[own]);
    }
    run.trainer.synchronize();
    played.average();
    CHECK(run.weights() == played.copies()[own]);
    run.trainer.synchronize();  // nothing has been learned since
    CHECK(run.weights() == played.copies()[own]);
  }
}

TEST_CASE("weights: LocalSgd when asked keeps to itself until then") {
  Run<Single, LocalSgd<when_asked, Mpi>> run(plain, MPI_COMM_WORLD);
  Played<Single> played(plain, batches(false));
  for (int s = 0; s < 3; ++s) {
    run.step(s, own_rows(false));
    played.step(s);
  }
  CHECK(run.weights() == played.copies()[std::size_t(rank_of())]);
  run.trainer.synchronize();
  played.average();
  CHECK(run.weights() == played.copies()[0]);
}

TEST_CASE("weights: LocalSgd averages momentum or keeps it") {
  Played<Single> played(rule, batches(false));
  played.step(0);
  std::vector<Numbers> all;
  for (auto& one : played.ranks) all.push_back(one.rule_state());
  Numbers const mean = played.mean(all);
  Run<Single, LocalSgd<1, Mpi, RuleState::averaged>> averaged(rule, MPI_COMM_WORLD);
  Run<Single, LocalSgd<1, Mpi, RuleState::kept>> kept(rule, MPI_COMM_WORLD);
  averaged.step(0, own_rows(false));
  kept.step(0, own_rows(false));
  CHECK(averaged.rule_state() == mean);
  CHECK(kept.rule_state() == all[std::size_t(rank_of())]);
  CHECK(averaged.weights() == kept.weights());
}

TEST_CASE_TEMPLATE("weights: Asynchronous uses an exchange so many steps after its beginning", C,
                   Asynchronous<1, AllReduce<Mpi>>, Asynchronous<3, AllReduce<Mpi>>,
                   Asynchronous<3, AllReduce<Mpi, 4>>) {
  if (ranks_of() == 1) return;
  for (bool const some_empty : {false, true}) {
    Run<Single, C> run(plain, MPI_COMM_WORLD);
    Played<Single> played(plain, batches(some_empty));
    int const staleness = C(MPI_COMM_WORLD).staleness().bound;
    std::vector<Numbers> begun;  // the weights when the exchange under way began
    Numbers mean;
    int age = 0;
    auto const arrive = [&] {
      auto const now = played.copies();
      for (std::size_t r = 0; r < now.size(); ++r) {
        Numbers to = now[r];
        for (std::size_t i = 0; i < to.size(); ++i) to[i] = mean[i] + (now[r][i] - begun[r][i]);
        played.set(r, to);
      }
      begun.clear();
    };
    for (int s = 0; s < 8; ++s) {
      run.step(s % 2, own_rows(some_empty));
      played.step(s % 2);
      if (!begun.empty() && ++age == staleness) arrive();
      if (begun.empty()) {
        begun = played.copies();
        mean = played.mean(begun);
        age = 0;
      }
      CHECK(run.weights() == played.copies()[std::size_t(rank_of())]);
    }
    CHECK(run.trainer.communication().staleness().exchanges == 7 / staleness);
    run.trainer.synchronize();
    arrive();
    if (played.samples != std::vector<double>(played.samples.size(), 0.0)) played.average();
    CHECK(run.weights() == played.copies()[0]);
  }
}

TEST_CASE("weights: Groups sum gradients inside, and exchange weights between them") {
  using C = Groups<2, AllReduce<Mpi>, LocalSgd<2, Mpi>>;
  if (ranks_of() == 1) {
    CHECK_THROWS_WITH_AS(C{MPI_COMM_WORLD},
                         "Groups: expected at least 2 ranks, one for each group, got 1.", Error);
    return;
  }
  for (bool const some_empty : {false, true}) {
    Run<Single, C> run(plain, MPI_COMM_WORLD);
    // A group is one rank with the samples of all of its ranks.
    std::vector<int> const each = batches(some_empty);
    std::vector<int> groups(2, 0);
    for (int r = 0; r < ranks_of(); ++r)
      groups[std::size_t(r * 2 / ranks_of())] += each[std::size_t(r)];
    Played<Single> played(plain, groups);
    for (int s = 0; s < 4; ++s) {
      run.step(s, own_rows(some_empty));
      played.step(s);
      if (s % 2 == 1) played.average();
      auto const expected = played.copies()[std::size_t(run.trainer.communication().group())];
      auto const got = run.weights();
      // Groups of three or five samples have a mean that is rounded.
      for (std::size_t i = 0; i < got.size(); ++i)
        CHECK(got[i] == doctest::Approx(expected[i]).epsilon(1e-14));
    }
  }
}

TEST_CASE("weights: Groups whose nodes share the exchange have the weights of those that do not") {
  if (ranks_of() == 1) return;
  for (bool const some_empty : {false, true}) {
    auto const alone =
        trained<Groups<2, AllReduce<Mpi>, Asynchronous<2, AllReduce<Mpi>>>>(5, some_empty, plain);
    auto const shared = trained<Groups<2, AllReduce<Mpi>, Asynchronous<2, Hierarchical<Mpi>>>>(
        5, some_empty, plain);
    REQUIRE(alone.size() == shared.size());
    for (std::size_t i = 0; i < alone.size(); ++i)
      CHECK(shared[i] == doctest::Approx(alone[i]).epsilon(1e-14));
  }
}

TEST_CASE_TEMPLATE("weights: a gradient that is infinite on one rank makes all ranks skip a step",
                   C, AllReduce<Mpi>, Hierarchical<Mpi>, Sharded<AllReduce<Mpi>>,
                   AllReduce<Wire<fp16, Mpi>>, LocalSgd<3, Mpi>, Asynchronous<2, AllReduce<Mpi>>,
                   Groups<1, AllReduce<Mpi>, LocalSgd<3, Mpi>>,
                   Groups<2, AllReduce<Mpi>, LocalSgd<3, Mpi>>,
                   Groups<2, AllReduce<Mpi>, Asynchronous<2, Hierarchical<Mpi>>>) {
  if (ranks_of() < groups_of<C>) return;
  Run<Single, C, Mixed<fp16, float>> run(plain, MPI_COMM_WORLD);
  auto const before = run.weights();
  Table x = integers(4, 0), t = integers(4, 31);
  if (rank_of() == ranks_of() - 1) t(std::size_t(own_rows(false).first), 0) = 1e30;
  run.step(x, t, own_rows(false));
  auto const counts = [&] { return std::pair{run.state().step, run.state().skipped}; };
  CHECK(counts() == std::pair<std::uint64_t, std::uint64_t>{0, 1});
  run.trainer.synchronize();
  CHECK(run.weights() == before);
  // The loss scale comes down until steps count, on all ranks alike.
  for (int s = 0; s < 16; ++s) run.step(s, own_rows(false));
  auto const [steps, skipped] = counts();
  std::uint64_t other[2] = {steps, skipped};
  MPI_Bcast(other, 2, MPI_UINT64_T, 0, MPI_COMM_WORLD);
  CHECK(other[0] == steps);
  CHECK(other[1] == skipped);
  CHECK(steps > 0);
  run.trainer.synchronize();
  CHECK(run.weights() != before);
}

TEST_CASE_TEMPLATE("weights: in bf16, too, all ranks skip a step that is infinite on one", C,
                   Sharded<AllReduce<Mpi>>,
                   LocalSgd<3, Mpi> PHYLLO_IN_VERIFY(, AllReduce<Mpi>,
                                                     Asynchronous<2, AllReduce<Mpi>>,
                                                     Groups<1, AllReduce<Mpi>, LocalSgd<3, Mpi>>)) {
  Run<Single, C, Mixed<bf16, float>> run(plain, MPI_COMM_WORLD);
  Table x = integers(4, 0), t = integers(4, 31);
  if (rank_of() == ranks_of() - 1)
    t(std::size_t(own_rows(false).first), 0) = std::numeric_limits<double>::infinity();
  run.step(x, t, own_rows(false));
  CHECK(run.state().step == 0);
  CHECK(run.state().skipped == 1);
  run.step(1, own_rows(false));
  CHECK(run.state().step == 1);
  CHECK(run.state().skipped == 1);
}

TEST_CASE("weights: random masks of two ranks never have the same name") {
  // A rank counts its samples from here on; a name has 48 bits for a sample.
  std::uint64_t const most_ranks = (std::uint64_t(1) << 48) / samples_of_one_count;
  CHECK(most_ranks >= 100000);
  CHECK(samples_of_one_count > std::uint64_t(std::numeric_limits<int>::max()));
  LocalSgd<3, Mpi> const alone = MPI_COMM_WORLD;
  CHECK(std::uint64_t(alone.first_sample(7)) == std::uint64_t(rank_of()) * samples_of_one_count);
}

TEST_CASE("weights: running statistics are averaged with them") {
  struct Norm : Network<Input<4>, Linear<8>, BatchNorm<>, Linear<4>> {};
  Run<Norm, LocalSgd<1, Mpi>> run(plain, MPI_COMM_WORLD);
  run.step(0, own_rows(false));
  std::vector<double> buffers = Run<Norm, Local>::on_host(run.trainer.model().buffers()),
                      first = buffers;
  MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(first == buffers);
  CHECK(buffers != Run<Norm, Local>::on_host(Run<Norm, Local>(plain).trainer.model().buffers()));
}
