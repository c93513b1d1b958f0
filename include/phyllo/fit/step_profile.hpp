// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/step_part.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <chrono>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// How long a part of the steps took, in seconds.
struct PartTimes {
  long count = 0;
  double minimum = 0, median = 0, maximum = 0, sum = 0;
};

/// Measures the parts of the steps that this thread makes while it lives: next batch, forward and
/// backward pass, sums over ranks, update. They are the regions that Kokkos Tools see, under the
/// same names; a tool that is loaded still sees them.
///
///     StepProfile profile;
///     for (auto const& batch : batches.epoch(0)) trainer.step(batch.inputs, batch.targets);
///     PartTimes const update = profile.take()[int(StepPart::update)];
///
/// threads  one at a time in a process
/// errors   run: a second one while one lives -> Error
/// cost     the host waits for the device at the begin and the end of each part: without a profile
///          their work overlaps. Not with captured steps, which have no parts.
class StepProfile {
  using Clock = std::chrono::steady_clock;

 public:
  /// exec: the trainer's instance, which parts wait for.
  template <class Space = Kokkos::DefaultExecutionSpace>
  explicit StepProfile(Space const& exec = Space())
      : exec_(std::make_shared<Space>(exec)), wait_(&wait_for<Space>) {
    if (running() != nullptr)
      throw Error(
          "StepProfile: expected one profile at a time in a process, got a second one. Let the "
          "first one end, or leave FitOptions::profile empty in one of two trainings.");
    before_ = Kokkos::Tools::Experimental::get_callbacks();
    running() = this;
    Kokkos::Tools::Experimental::set_push_region_callback(push);
    Kokkos::Tools::Experimental::set_pop_region_callback(pop);
  }
  ~StepProfile() {
    Kokkos::Tools::Experimental::set_push_region_callback(before_.push_region);
    Kokkos::Tools::Experimental::set_pop_region_callback(before_.pop_region);
    running() = nullptr;
  }
  StepProfile(StepProfile const&) = delete;  // StepProfile: callbacks refer to it.
  StepProfile& operator=(StepProfile const&) = delete;

  /// The times since the last call, by StepPart; count = 0 where a part did not run.
  std::vector<PartTimes> take() {
    std::vector<PartTimes> all;
    for (std::vector<double>& seconds : seconds_) all.push_back(times_of(std::move(seconds)));
    seconds_.assign(step_part_count, {});
    return all;
  }

 private:
  struct Open {
    int part;  // -1: of another region
    Clock::time_point since;
  };

  static StepProfile*& running() {
    static StepProfile* one = nullptr;
    return one;
  }
  template <class Space> static void wait_for(void const* exec) {
    static_cast<Space const*>(exec)->fence("phyllo: profile");
  }
  static PartTimes times_of(std::vector<double> seconds) {
    PartTimes times;
    if (seconds.empty()) return times;
    std::sort(seconds.begin(), seconds.end());
    times.count = long(seconds.size());
    times.minimum = seconds.front();
    times.median = seconds[seconds.size() / 2];
    times.maximum = seconds.back();
    for (double const s : seconds) times.sum += s;
    return times;
  }
  static void push(char const* name) {
    StepProfile& profile = *running();
    if (profile.before_.push_region != nullptr) profile.before_.push_region(name);
    if (std::this_thread::get_id() != profile.thread_) return;
    int part = -1;
    for (int p = 0; p < step_part_count; ++p)
      if (name_of(StepPart(p)) == name) part = p;
    if (part >= 0) profile.wait_(profile.exec_.get());
    profile.open_.push_back({part, Clock::now()});
  }
  static void pop() {
    StepProfile& profile = *running();
    if (profile.before_.pop_region != nullptr) profile.before_.pop_region();
    if (std::this_thread::get_id() != profile.thread_ || profile.open_.empty()) return;
    Open const last = profile.open_.back();
    profile.open_.pop_back();
    if (last.part < 0) return;
    profile.wait_(profile.exec_.get());
    std::chrono::duration<double> const spent = Clock::now() - last.since;
    profile.seconds_[std::size_t(last.part)].push_back(spent.count());
  }

  Kokkos::Tools::Experimental::EventSet before_;  // of a tool that is loaded
  std::shared_ptr<void> exec_;
  void (*wait_)(void const*);
  std::thread::id thread_ = std::this_thread::get_id();
  std::vector<Open> open_;
  std::vector<std::vector<double>> seconds_ = std::vector<std::vector<double>>(step_part_count);
};

}  // namespace phyllo::inline PHYLLO_ISA
