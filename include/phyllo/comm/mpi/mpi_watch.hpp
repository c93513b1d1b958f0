// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/comm/mpi/mpi_error.hpp>
#include <phyllo/comm/mpi/mpi_roll_call.hpp>
#include <phyllo/comm/mpi/mpi_survivors.hpp>
#include <phyllo/policy/rank_failure.hpp>

#include <mpi.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdio>
#include <exception>
#include <optional>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The only place that waits for other ranks: MPI_Test and a clock instead of MPI_Wait, so that a
/// rank that never arrives is an exception on all others.
///
/// state    the first RankFailure, which every later call throws again
/// errors   a wait beyond the time-out; a rank that left by an exception, or is dead ->
///          RankFailure; whatever else MPI refuses -> Error
/// cost     reads the clock at each test, and messages once a millisecond
class MpiWatch {
 public:
  /// communicator: our own, for the roll call; MPI_COMM_NULL: no roll call.
  /// timeout: seconds; 0: for ever.
  MpiWatch(MPI_Comm communicator, int rank, int size, double timeout)
      : communicator_(communicator), rank_(rank), size_(size), timeout_(timeout) {
    if (communicator != MPI_COMM_NULL) roll_call_.emplace(communicator, rank, size);
  }

  /// Makes a non-blocking collective call.
  template <class Call> void start(char const* operation, Call const& call) {
    if (failure_) throw *failure_;
    ++calls_;
    check(call(), operation);
  }

  /// Counts a collective operation that consists of messages of our own.
  void start() {
    if (failure_) throw *failure_;
    ++calls_;
  }

  /// Waits until all ranks have reached this call, so that a blocking call right after it does not
  /// wait for a rank.
  void arrive(char const* operation) {
    if (failure_) throw *failure_;
    ++calls_;
    if (timeout_ == 0) return;
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(communicator_, &request), operation);
    wait(&request, 1, operation);
  }
  /// Makes a blocking call when no rank is late.
  template <class Call> void block(char const* operation, Call const& call) {
    arrive(operation);
    check(call(), operation);
  }
  /// Of a blocking call: what it returned.
  void check(int code, char const* operation) {
    if (code == MPI_SUCCESS) return;
    auto const dead = dead_ranks(code, communicator_);
    if (!dead) check_mpi(code, operation, rank_);
    MpiNotice notice{.absence = MpiNotice::Absence::dead};
    for (int const rank : *dead) notice.add(rank);
    fail("expected all ranks to be alive in " + std::string(operation) + ", got " + notice.text() +
             ". Continue with survivors() of the communicator, or end the program.",
         *dead);
  }

  void wait(MPI_Request* requests, std::size_t count, char const* operation) {
    std::size_t k = 0;
    wait_until(operation, [&] {
      for (; k < count; ++k) {
        int done = 0;
        check(MPI_Test(&requests[k], &done, MPI_STATUS_IGNORE), operation);
        if (done == 0) return false;
      }
      return true;
    });
  }

  /// advance: advances messages, and returns whether nothing is left to wait for.
  template <class Advance> void wait_until(char const* operation, Advance const& advance) {
    if (failure_) throw *failure_;
    Clock::time_point const begin = Clock::now();
    Clock::time_point next_look = begin + look_interval;
    while (!advance()) {
      Clock::time_point const now = Clock::now();
      if (timeout_ == 0 || now < next_look) continue;
      next_look = now + look_interval;
      if (now - begin > Seconds(timeout_) || is_called() || is_left(now - begin))
        give_up(operation, Seconds(now - begin).count());
    }
    // What the others had sent before they gave up may have sufficed.
    if (is_called()) give_up(operation, Seconds(Clock::now() - begin).count());
  }

  /// Advances requests, without waiting.
  void test(std::vector<MPI_Request>& requests, char const* operation) {
    if (failure_) throw *failure_;
    int done = 0;
    for (MPI_Request& request : requests)
      check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), operation);
  }

  template <class Advance> void move_on(Advance const& advance) {
    if (failure_) throw *failure_;
    advance();
  }

  /// For destructors: waits for what can still complete, and throws nothing. A rank that leaves by
  /// an exception notifies the others; neither it nor a rank that has seen a failure waits for
  /// long.
  template <class Advance> void settle(std::vector<MPI_Request>& requests, Advance const& advance) {
    if (leaves_by_exception() && !failure_ && roll_call_ && size_ > 1) roll_call_->leave(calls_);
    double const patience = is_over() ? 0.2 : timeout_;  // seconds; 0: for ever
    Clock::time_point const begin = Clock::now();
    auto const is_late = [&] { return patience > 0 && Clock::now() - begin > Seconds(patience); };
    for (MPI_Request& request : requests)
      for (int done = 0; done == 0;) {
        if (MPI_Test(&request, &done, MPI_STATUS_IGNORE) != MPI_SUCCESS) break;
        if (is_late()) return;
      }
    try {
      while (!advance() && !is_late()) {
      }
    } catch (std::exception const&) {  // said before, or by the others
    }
  }

  /// Whether no rank shall be waited for any more.
  bool is_over() const { return failure_.has_value() || leaves_by_exception(); }

 private:
  using Clock = std::chrono::steady_clock;
  using Seconds = std::chrono::duration<double>;
  static constexpr std::chrono::milliseconds look_interval{1};

  bool leaves_by_exception() const { return std::uncaught_exceptions() > exceptions_; }

  // Whether another rank waits for this one no longer.
  bool is_called() { return timeout_ > 0 && roll_call_ && roll_call_->is_called(calls_); }
  // A rank that has left moves messages no longer: what it has not sent within a second is lost.
  bool is_left(Seconds waited) const {
    return roll_call_ && roll_call_->is_left() && waited > Seconds(1);
  }

  void give_up(char const* operation, double waited) {
    char seconds[64];
    std::snprintf(seconds, sizeof seconds, "waited %.3g s in ", waited);
    if (!roll_call_)
      fail(seconds + std::string(operation) + " for the other ranks of " + std::to_string(size_) +
               ". All of them must make the same calls. For a longer time-out, raise "
               "MpiOptions::timeout.",
           {});
    MpiNotice const absent = roll_call_->take(calls_);
    std::vector<int> const ranks = absent.known_ranks();
    if (std::find(ranks.begin(), ranks.end(), rank_) != ranks.end())
      fail("came to " + std::string(operation) +
               " after the other ranks had stopped waiting for it. If it was only slow, raise "
               "MpiOptions::timeout.",
           ranks);
    bool const left = absent.absence == MpiNotice::Absence::left;
    fail(seconds + std::string(operation) + " for " + absent.text() +
             (left ? ". That rank reports why."
                   : ". If it is only slow, raise MpiOptions::timeout."),
         ranks);
  }

  void fail(std::string const& what, std::vector<int> const& ranks) {
    failure_.emplace("Mpi on rank " + std::to_string(rank_) + ": " + what, ranks);
    throw *failure_;
  }

  MPI_Comm communicator_;
  int rank_, size_;
  double timeout_;  // seconds
  long calls_ = 0;  // collective calls begun
  int exceptions_ = std::uncaught_exceptions();
  std::optional<MpiRollCall> roll_call_;
  std::optional<RankFailure> failure_;
};

}  // namespace phyllo::inline PHYLLO_ISA
