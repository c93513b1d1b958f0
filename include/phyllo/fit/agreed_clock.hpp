// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/fit/stop_signal.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>

namespace phyllo::inline PHYLLO_ISA::detail {

// Replaces numbers on the host by their sums over the ranks. Collective; blocks.
template <class T> void sum_over_ranks(T& trainer, double* numbers, long count) {
  auto& sums = trainer.sums();
  if (sums.size() == 1) return;
  using Host = Kokkos::View<double*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Host const host(numbers, std::size_t(count));
  Kokkos::View<double*, typename T::space::memory_space> const all("phyllo: sums of ranks",
                                                                   std::size_t(count));
  Kokkos::deep_copy(trainer.exec(), all, host);
  sums.sum(trainer.exec(), all.data(), count);
  Kokkos::deep_copy(trainer.exec(), host, all);
  trainer.exec().fence("phyllo: sums of ranks");
}

// What is due by the clock of rank 0, or because a signal came to any rank, at the same step on all
// ranks. One rank looks after every step; several exchange four numbers about once a second.
template <class T> class AgreedClock {
  using Clock = std::chrono::steady_clock;

 public:
  struct Due {
    bool checkpoint = false, stop = false, signal = false;
  };
  AgreedClock(T& trainer, double every, double stop_after, int stop_on_signal)
      : trainer_(trainer), signal_(stop_on_signal), every_(every), stop_after_(stop_after) {}

  Due after_step() {
    if (every_ <= 0 && stop_after_ <= 0 && !signal_.is_watched()) return {};
    ++since_;
    if (trainer_.sums().size() == 1) return look();
    if (--left_ > 0) return {};
    double numbers[4] = {};
    if (trainer_.sums().rank() == 0) {
      Due const due = look();
      double const step = std::max(seconds(checked_) / double(since_), 1e-9);
      numbers[0] = due.checkpoint ? 1 : 0;
      numbers[1] = due.stop ? 1 : 0;
      numbers[2] = std::clamp(longest_wait / step, 1.0, 1e6);
    }
    numbers[3] = signal_.has_come() ? 1 : 0;
    sum_over_ranks(trainer_, numbers, 4);
    left_ = long(numbers[2]);
    since_ = 0;
    checked_ = Clock::now();
    return {numbers[0] > 0, numbers[1] > 0, numbers[3] > 0};
  }

 private:
  static constexpr double longest_wait = 1;  // seconds between two exchanges

  static double seconds(Clock::time_point since) {
    return std::chrono::duration<double>(Clock::now() - since).count();
  }
  Due look() {
    Due due;
    due.signal = signal_.has_come();
    due.stop = stop_after_ > 0 && seconds(start_) >= stop_after_;
    due.checkpoint = every_ > 0 && seconds(saved_) >= every_;
    if (due.checkpoint) saved_ = Clock::now();
    return due;
  }

  T& trainer_;
  StopSignal signal_;
  double every_, stop_after_;  // seconds
  long left_ = 1, since_ = 0;  // steps until the next exchange, since the last
  Clock::time_point start_ = Clock::now(), saved_ = start_, checked_ = start_;
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
