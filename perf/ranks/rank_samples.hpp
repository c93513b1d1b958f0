// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "../suite/samples.hpp"

#include <mpi.h>

#include <chrono>
#include <thread>

namespace perf {

/// As Samples, for calls that several ranks make together: a sample is the time of the slowest.
///
/// Between samples ranks sleep: MPI waits by spinning, which would take the cores from others.
class RankSamples {
 public:
  explicit RankSamples(MPI_Comm communicator) : communicator_(communicator) {
    MPI_Comm_rank(communicator, &rank_);
    MPI_Comm_size(communicator, &size_);
  }

  /// `facts`: what rank 0 says about the case, a JSON object.
  void add(std::string const& facts, std::function<void()> call) {
    call();
    call();
    int repeat = std::max(1, int(20e-3 / std::max(seconds_of(call, 1), 1e-8)));
    MPI_Bcast(&repeat, 1, MPI_INT, 0, communicator_);
    repeat_.push_back(repeat);
    call_.push_back(std::move(call));
    if (rank_ == 0) std::printf("%s\n", facts.c_str());
  }

  int answer() {
    if (rank_ == 0) {
      std::printf("ready\n");
      std::fflush(stdout);
    }
    for (int k = next(); k >= 0; k = next()) {
      auto const& call = call_.at(std::size_t(k));
      call();  // caches fill, and the ranks meet
      double const seconds = seconds_of(call, repeat_[std::size_t(k)]);
      if (rank_ != 0) continue;
      std::printf("%.9g\n", seconds);
      std::fflush(stdout);
    }
    return 0;
  }

 private:
  double seconds_of(std::function<void()> const& call, int repeat) const {
    MPI_Barrier(communicator_);
    double const start = now();
    for (int r = 0; r < repeat; ++r) call();
    double own = (now() - start) / repeat, slowest = 0;
    MPI_Allreduce(&own, &slowest, 1, MPI_DOUBLE, MPI_MAX, communicator_);
    return slowest;
  }

  /// The case that rank 0 reads; -1: the end.
  int next() const {
    int k = -1;
    if (rank_ == 0) {
      std::string command;
      if (!(std::cin >> command >> k) || command != "sample") k = -1;
      for (int r = 1; r < size_; ++r) MPI_Send(&k, 1, MPI_INT, r, 0, communicator_);
      return k;
    }
    for (int there = 0; there == 0;) {
      MPI_Iprobe(0, 0, communicator_, &there, MPI_STATUS_IGNORE);
      if (there == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    MPI_Recv(&k, 1, MPI_INT, 0, 0, communicator_, MPI_STATUS_IGNORE);
    return k;
  }

  MPI_Comm communicator_;
  int rank_ = 0, size_ = 1;
  std::vector<std::function<void()>> call_;
  std::vector<int> repeat_;
};

}  // namespace perf
