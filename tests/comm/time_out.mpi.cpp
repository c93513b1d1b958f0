// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Ranks that are late or leave are named by those that wait. Every case has a communicator of its
// own, which the failure ends.

#include <phyllo/comm/all_reduce.hpp>
#include <phyllo/comm/mpi.hpp>

#include <doctest/doctest.h>
#include <comm/ranks.hpp>
#include <rings.hpp>

#include <chrono>
#include <stdexcept>
#include <thread>

using phyllo::AllReduce;
using phyllo::Mpi;
using phyllo::RankFailure;

namespace {

using Clock = std::chrono::steady_clock;
using Seconds = std::chrono::duration<double>;

constexpr double timeout = 0.8;  // seconds

void sleep(double seconds) { std::this_thread::sleep_for(Seconds(seconds)); }

// MPI_Barrier takes a core of each rank that waits; a test for 20 ms does not.
void wait_for_all() {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  for (int done = 0; MPI_Test(&request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done;)
    sleep(0.02);
}

// No rank is a keeper of the roll call in all cases: each is the late one in its turn.
template <class Case> void for_each_victim(Case const& test) {
  if (ranks_of() == 1) return;
  // In the gate the first and the last.
  int const step = phyllo::test::all_cases ? 1 : ranks_of() - 1;
  for (int victim = 0; victim < ranks_of(); victim += step) {
    CAPTURE(victim);
    test(victim);
    wait_for_all();
  }
}

// The RankFailure of an action, and how long it took to come.
struct Outcome {
  std::string sentence;
  std::vector<int> ranks;
  double seconds = 0;
};
template <class Action> Outcome outcome_of(Action const& action) {
  Outcome outcome;
  auto const begin = Clock::now();
  try {
    action();
  } catch (RankFailure const& failure) {
    outcome.sentence = failure.what();
    outcome.ranks = failure.ranks();
  }
  outcome.seconds = Seconds(Clock::now() - begin).count();
  return outcome;
}

void check_late(Outcome const& outcome, int victim, std::string const& call) {
  std::string const me = std::to_string(rank_of()), late = std::to_string(victim);
  CAPTURE(outcome.sentence);
  CHECK(outcome.ranks == std::vector<int>{victim});
  CHECK(outcome.seconds < timeout + 1);
  if (rank_of() == victim) {
    CHECK(outcome.sentence == "Mpi on rank " + me + ": came to " + call +
                                  " after the other ranks had stopped waiting for it. If it was "
                                  "only slow, raise MpiOptions::timeout.");
  } else {
    CHECK(outcome.seconds > timeout - 0.1);  // another rank may have begun to wait before
    CHECK(outcome.sentence.starts_with("Mpi on rank " + me + ": waited 0."));
    CHECK(outcome.sentence.ends_with(
        " s in " + call + " for rank " + late +
        ", which has stalled or stopped. If it is only slow, raise MpiOptions::timeout."));
  }
}

}  // namespace

TEST_CASE("A late rank is named by all, in every call that waits, and learns it when it comes") {
  Kokkos::DefaultExecutionSpace const exec;
  for (bool const blocking : {false, true})
    for (bool const staged : {false, true}) {
      if (!phyllo::test::all_cases && blocking != staged) continue;
      for_each_victim([&](int victim) {
        if (!phyllo::test::all_cases && blocking != (victim == 0)) return;
        CAPTURE(blocking);
        CAPTURE(staged);
        auto const data = values_of<float>(rank_of(), 100);
        Mpi mpi(MPI_COMM_WORLD, {.staged = staged, .timeout = timeout});
        if (rank_of() == victim) sleep(timeout + 1);
        Outcome const outcome = outcome_of([&] {
          if (blocking) return mpi.sum(exec, data.data(), 100);
          mpi.begin(exec, data.data(), 100);
          mpi.finish(exec);
        });
        check_late(outcome, victim, "a sum");
        // From now on it says so at once.
        Outcome const again = outcome_of([&] { mpi.sum(exec, data.data(), 100); });
        CHECK(again.sentence == outcome.sentence);
        CHECK(again.seconds < 0.2);
      });
    }
}

TEST_CASE("Sums of the MPI library time out as well") {
  if (ranks_of() == 1) return;
  Kokkos::DefaultExecutionSpace const exec;
  int const victim = ranks_of() - 1;
  for (bool const blocking : {false, true}) {
    if (!phyllo::test::all_cases && blocking) continue;
    CAPTURE(blocking);
    auto const data = values_of<float>(rank_of(), 100);
    Mpi mpi(MPI_COMM_WORLD, {.library_sums = true, .timeout = timeout});
    if (rank_of() == victim) sleep(timeout + 1);
    Outcome const outcome = outcome_of([&] {
      if (blocking) return mpi.sum(exec, data.data(), 100);
      mpi.begin(exec, data.data(), 100);
      mpi.finish(exec);
    });
    check_late(outcome, victim, blocking ? "MPI_Allreduce" : "a non-blocking collective call");
    Outcome const again = outcome_of([&] { mpi.sum(exec, data.data(), 100); });
    CHECK(again.sentence == outcome.sentence);
    CHECK(again.seconds < 0.2);
    wait_for_all();
  }
}

TEST_CASE("An exclusive sum waits for the ranks below") {
  if (ranks_of() == 1) return;
  Mpi mpi(MPI_COMM_WORLD, {.timeout = timeout});
  if (rank_of() == 0) sleep(timeout + 1);
  Outcome const outcome = outcome_of([&] { static_cast<void>(mpi.exclusive_sum(1)); });
  if (rank_of() > 0) check_late(outcome, 0, "MPI_Iexscan");
  wait_for_all();
}

TEST_CASE("A rank that leaves by an exception ends the others' wait at once") {
  Kokkos::DefaultExecutionSpace const exec;
  for_each_victim([&](int victim) {
    auto const data = values_of<float>(rank_of(), 100);
    Outcome outcome;
    try {
      AllReduce<Mpi, 128> communication(MPI_COMM_WORLD, phyllo::MpiOptions{.timeout = 60});
      communication.begin(exec, data.data(), 50);
      if (rank_of() == victim) throw std::runtime_error("the disk is full");
      outcome = outcome_of([&] {
        communication.begin(exec, data.data() + 50, 50);
        communication.finish(exec);
      });
    } catch (std::runtime_error const& error) {
      CHECK(std::string(error.what()) == "the disk is full");
      return;
    }
    CAPTURE(outcome.sentence);
    CHECK(outcome.seconds < 1);
    CHECK(outcome.ranks == std::vector<int>{victim});
    CHECK(outcome.sentence.ends_with(" s in a sum for rank " + std::to_string(victim) +
                                     ", which left by an exception. That rank reports why."));
  });
}

TEST_CASE("Two of three ranks are late") {
  if (ranks_of() != 3) return;
  Kokkos::DefaultExecutionSpace const exec;
  for (int const alone : {0, 1, 2}) {
    if (!phyllo::test::all_cases && alone != 1) continue;
    CAPTURE(alone);
    auto const data = values_of<float>(rank_of(), 100);
    Mpi mpi(MPI_COMM_WORLD, {.timeout = timeout});
    if (rank_of() != alone) sleep(timeout + 1.2);
    Outcome const outcome = outcome_of([&] { mpi.sum(exec, data.data(), 100); });
    CAPTURE(outcome.sentence);
    std::vector<int> late;
    for (int r = 0; r < 3; ++r)
      if (r != alone) late.push_back(r);
    if (rank_of() == alone || outcome.ranks.size() == 2) CHECK(outcome.ranks == late);
    if (rank_of() == alone && alone != 2)
      CHECK(outcome.sentence.find(" for ranks " + std::to_string(late[0]) + ", " +
                                  std::to_string(late[1]) + ", which have stalled or stopped.") !=
            std::string::npos);
    CHECK(outcome.seconds < timeout + 1);
    wait_for_all();
  }
}

TEST_CASE("A slow rank is waited for within the time-out, and for ever without one") {
  Kokkos::DefaultExecutionSpace const exec;
  for (double const patience : {5.0, 0.0})
    for_each_victim([&](int victim) {
      if (!phyllo::test::all_cases && (patience == 0) != (victim == 0)) return;
      auto const data = values_of<float>(rank_of(), 1'000);
      Mpi mpi(MPI_COMM_WORLD, {.timeout = patience});
      if (rank_of() == victim) sleep(0.3);
      mpi.begin(exec, data.data(), 1'000);
      mpi.finish(exec);
      CHECK(on_host(data) == expected_sums<float>(ranks_of(), 1'000));
    });
}

TEST_CASE("Ranks that make an Mpi wait for each other within the time-out as well") {
  for_each_victim([&](int victim) {
    MPI_Comm own = MPI_COMM_NULL;
    MPI_Comm_dup(MPI_COMM_WORLD, &own);
    if (rank_of() == victim) {
      sleep(timeout + 0.5);
    } else {
      Outcome const outcome = outcome_of([&] { Mpi const mpi(own, {.timeout = timeout}); });
      CAPTURE(outcome.sentence);
      CHECK(outcome.seconds < timeout + 1);
      CHECK(outcome.sentence.find(" s in MPI_Comm_idup for the other ranks of ") !=
            std::string::npos);
    }
  });
}

TEST_CASE("A time-out is 0 or more seconds") {
  CHECK(sentence_of([] { Mpi const mpi(MPI_COMM_WORLD, {.timeout = -1}); }) ==
        "Mpi: expected a time-out of 0 or more seconds, got -1.000000.");
}
