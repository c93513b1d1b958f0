// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Groups, bit for bit against two trainers of one rank that play the groups, in buckets of several
// sizes. Both groups have four samples, however they stand on their ranks, so that all sums and
// means are exact. What else a program asks of a group: its outer policy, the time that ranks
// waited, and that messages move on when it says so.

#include <comm/policies.hpp>

#include <doctest/doctest.h>
#include <rings.hpp>

#include <array>
#include <chrono>
#include <deque>
#include <thread>

namespace {

using namespace phyllo;
using namespace phyllo::test;

constexpr Sgd plain{.rate = 0.25f};
constexpr Sgd momentum{.rate = 0.25f, .momentum = 0.5f};
using Numbers = std::vector<double>;

// Ranks 2 and up. Groups of 1 and 1, 2 and 1, 2 and 2, 3 and 2, 3 and 3 ranks.
std::vector<int> four_each(bool some_empty) {
  static int const full[5][6] = {
      {4, 4}, {1, 3, 4}, {2, 2, 1, 3}, {1, 2, 1, 2, 2}, {1, 1, 2, 2, 1, 1}};
  static int const holes[5][6] = {
      {4, 4}, {0, 4, 4}, {4, 0, 0, 4}, {2, 0, 2, 4, 0}, {0, 3, 1, 2, 2, 0}};
  int const ranks = ranks_of();
  int const* const row = some_empty ? holes[ranks - 2] : full[ranks - 2];
  return {row, row + ranks};
}

/// Two ranks with four samples each.
template <class Net> struct PlayedGroups {
  using One = Run<Net, Local>;
  std::deque<One> group;

  explicit PlayedGroups(Sgd const& rule) {
    for (int g = 0; g < 2; ++g) group.emplace_back(rule);
  }
  void step(int number) {
    for (int g = 0; g < 2; ++g) group[std::size_t(g)].step(number, {4 * g, 4 * g + 4});
  }
  std::array<Numbers, 2> weights() { return {group[0].weights(), group[1].weights()}; }
  std::array<Numbers, 2> rule_states() { return {group[0].rule_state(), group[1].rule_state()}; }

  static Numbers mean(std::array<Numbers, 2> const& of) {
    Numbers result = of[0];
    for (std::size_t i = 0; i < result.size(); ++i) result[i] = (of[0][i] + of[1][i]) / 2;
    return result;
  }
  template <class V> static void set(V const& view, Numbers const& to) {
    auto const host = Kokkos::create_mirror(view);
    for (std::size_t i = 0; i < to.size(); ++i) host(i) = to[i];
    Kokkos::deep_copy(view, host);
  }
  void average() {
    Numbers const w = mean(weights()), r = mean(rule_states());
    for (One& one : group) {
      set(one.trainer.model().master(), w);
      set(one.trainer.optimizer().state(), r);
    }
  }
};

template <class Net, class C> void check_local_sgd(Sgd const& rule, int steps) {
  if (ranks_of() == 1) return;
  for (bool const some_empty : {false, true}) {
    CAPTURE(some_empty);
    Run<Net, C> run(rule, MPI_COMM_WORLD);
    PlayedGroups<Net> played(rule);
    auto const own = std::size_t(run.trainer.communication().group());
    for (int s = 0; s < steps; ++s) {
      run.step(s, rows_of(four_each(some_empty), rank_of()));
      played.step(s);
      CHECK(played.weights()[0] != played.weights()[1]);
      if (s % 2 == 1) played.average();
      CHECK(run.weights() == played.weights()[own]);
    }
  }
}

template <class Inner> using EveryTwo = Groups<2, Inner, LocalSgd<2, Mpi>>;

}  // namespace

TEST_CASE_TEMPLATE("Groups: bits of two ranks that average their weights", Inner, AllReduce<Mpi, 4>,
                   AllReduce<Mpi> PHYLLO_IN_VERIFY(, AllReduce<Mpi, 0>, AllReduce<Mpi, 64>)) {
  check_local_sgd<Single, EveryTwo<Inner>>(plain, 4);
  check_local_sgd<Single, EveryTwo<Inner>>(momentum, 4);
  check_local_sgd<Deep, EveryTwo<Inner>>(plain, 2);
}

TEST_CASE_TEMPLATE(
    "Groups: bits of two ranks whose weights travel meanwhile", C,
    Groups<2, AllReduce<Mpi, 4>, Asynchronous<2, AllReduce<Mpi, 4>>>,
    Groups<2, AllReduce<Mpi, 64>, Asynchronous<2, Hierarchical<Mpi, Mpi, 4>>> PHYLLO_IN_VERIFY(
        , Groups<2, AllReduce<Mpi>, Asynchronous<2, AllReduce<Mpi>>>,
        Groups<2, AllReduce<Mpi>, Asynchronous<2, Hierarchical<Mpi>>>)) {
  if (ranks_of() == 1) return;
  for (bool const some_empty : {false, true}) {
    CAPTURE(some_empty);
    Run<Single, C> run(plain, MPI_COMM_WORLD);
    PlayedGroups<Single> played(plain);
    C& groups = run.trainer.communication();
    auto const own = std::size_t(groups.group());
    CHECK(groups.outer().staleness().bound == 2);
    std::array<Numbers, 2> begun;  // the weights when the exchange under way began
    for (int s = 0; s < 5; ++s) {
      CHECK(groups.outer().staleness().exchanges == (s == 0 ? 0 : (s - 1) / 2));
      run.step(s, rows_of(four_each(some_empty), rank_of()));
      played.step(s);
      if (s > 0 && s % 2 == 0) {
        Numbers const mean = played.mean(begun);
        auto const now = played.weights();
        for (std::size_t g = 0; g < 2; ++g) {
          Numbers to = now[g];
          for (std::size_t i = 0; i < to.size(); ++i) to[i] = mean[i] + (now[g][i] - begun[g][i]);
          played.set(played.group[g].trainer.model().master(), to);
        }
      }
      if (s % 2 == 0) begun = played.weights();
      CHECK(run.weights() == played.weights()[own]);
    }
    CHECK(groups.outer().staleness().exchanges == 2);
  }
}

TEST_CASE("Groups: the outer policy's view of the ranks is that of all") {
  if (ranks_of() == 1) return;
  EveryTwo<AllReduce<Mpi>> const groups = MPI_COMM_WORLD;
  CHECK(groups.outer().size() == ranks_of());
  CHECK(groups.outer().rank() == rank_of());
  CHECK(groups.group() == rank_of() * 2 / ranks_of());
}

TEST_CASE("Asynchronous: the time that ranks waited for a late one") {
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  Run<Single, Asynchronous<0, AllReduce<Mpi>>> run(plain, MPI_COMM_WORLD);
  auto const& communication = run.trainer.communication();
  CHECK(communication.staleness().bound == 0);
  CHECK(communication.staleness().seconds_waited == 0);
  auto const rows = rows_of(batches(false), rank_of());
  MPI_Barrier(MPI_COMM_WORLD);
  auto const begin = Clock::now();
  if (rank_of() == 0) std::this_thread::sleep_for(Seconds(0.6));
  run.step(0, rows);
  double const elapsed = Seconds(Clock::now() - begin).count();
  auto const report = communication.staleness();
  if (ranks_of() == 1) {
    CHECK(report.exchanges == 0);
    CHECK(report.seconds_waited == 0);
    return;
  }
  CHECK(report.exchanges == 1);
  // Half of it may go into getting there, where ranks share a core.
  if (rank_of() != 0) CHECK(report.seconds_waited > 0.3);
  CHECK(report.seconds_waited > 0);
  CHECK(report.seconds_waited < elapsed - (rank_of() == 0 ? 0.6 : 0.0));
}

// Under Lag the sums that begin in one step are waited for in the next. Rank 0 does not get there
// before all others have, whose sums need its messages: only `progress` moves these.
TEST_CASE("Trainer: progress moves the messages of a rank that is somewhere else") {
  if (ranks_of() == 1) return;
  struct Wide : Network<Input<4>, Linear<2048>, Linear<4>> {};
  Run<Wide, Lag<1, AllReduce<Mpi>>> run(plain, MPI_COMM_WORLD, MpiOptions{.timeout = 10});
  auto const rows = rows_of(batches(false), rank_of());
  run.step(0, rows);
  if (rank_of() == 0) {
    std::vector<MPI_Request> ends(std::size_t(ranks_of() - 1));
    for (int r = 1; r < ranks_of(); ++r)
      MPI_Irecv(nullptr, 0, MPI_BYTE, r, 0, MPI_COMM_WORLD, &ends[std::size_t(r - 1)]);
    for (int all = 0; all == 0;) {
      run.trainer.progress();
      MPI_Testall(int(ends.size()), ends.data(), &all, MPI_STATUSES_IGNORE);
    }
  }
  std::string const failure = sentence_of([&] { run.step(1, rows); });
  if (rank_of() != 0) MPI_Send(nullptr, 0, MPI_BYTE, 0, 0, MPI_COMM_WORLD);
  CHECK(failure == "");
  int failures = failure == "" ? 0 : 1;
  MPI_Allreduce(MPI_IN_PLACE, &failures, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  if (failures > 0) return;
  Numbers first = run.weights();
  Numbers const own = first;
  MPI_Bcast(first.data(), int(first.size()), MPI_DOUBLE, 0, MPI_COMM_WORLD);
  CHECK(own == first);
}
