// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "ceilings.hpp"
#include "samples.hpp"

#include <phyllo/model/explain.hpp>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace perf {

/// Seconds that the kernels of each step of a plan take, as a profiler sees them: labels begin with
/// "<network>/<step>:". Kernels without a step, such as the optimizer's, are together. A device's
/// are waited for one by one: their times include the launch and the wait.
class StepTimes {
 public:
  explicit StepTimes(int steps) : seconds_(std::size_t(steps) + 1) {
    now_ = this;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(begin);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(end);
  }
  ~StepTimes() {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    Kokkos::Tools::Experimental::set_end_parallel_for_callback(nullptr);
    now_ = nullptr;
  }
  StepTimes(StepTimes const&) = delete;
  StepTimes& operator=(StepTimes const&) = delete;

  double of_step(int s) const { return seconds_[std::size_t(s)]; }
  double of_others() const { return seconds_.back(); }

 private:
  static void begin(char const* label, std::uint32_t, std::uint64_t* id) {
    *id = now_->place_of(label);
    now_->begun_ = now();
  }
  static void end(std::uint64_t id) {
    if constexpr (on_device) Kokkos::fence("perf");
    now_->seconds_[std::size_t(id)] += now() - now_->begun_;
  }

  std::uint64_t place_of(std::string_view label) const {
    std::size_t slash = label.find('/');
    while (slash != label.npos && (label[slash + 1] < '0' || label[slash + 1] > '9'))
      slash = label.find('/', slash + 1);
    if (slash == label.npos) return seconds_.size() - 1;
    long const step = std::strtol(label.data() + slash + 1, nullptr, 10);
    return std::uint64_t(std::min<long>(step, long(seconds_.size()) - 1));
  }

  inline static StepTimes* now_ = nullptr;
  std::vector<double> seconds_;
  double begun_ = 0;
};

/// A row of the table: steps of the same layers and output.
struct StepRow {
  std::string layers, output;
  int count = 0;
  double floor = 0, seconds = 0;
};

/// Where the time of a training step lies: a table of the steps of a plan, those first that lose
/// most beside their floors, of the median of some calls.
template <class Planned, class P>
void print_step_times(Ceilings const& c, long batch, std::function<void()> const& call) {
  constexpr int steps = Planned::plan.size, calls = 5;
  std::vector<std::vector<double>> sample(std::size_t(steps) + 1);
  std::vector<double> whole;
  call();
  for (int i = 0; i < calls; ++i) {
    StepTimes times(steps);
    double const begin = now();
    call();
    whole.push_back(now() - begin);
    for (int s = 0; s < steps; ++s) sample[std::size_t(s)].push_back(times.of_step(s));
    sample.back().push_back(times.of_others());
  }
  auto const median = [](std::vector<double> v) {
    std::nth_element(v.begin(), v.begin() + long(v.size()) / 2, v.end());
    return v[v.size() / 2];
  };
  phyllo::Roofline const roofline{c.template peak<P>().rate, c.memory().rate, c.cache().rate,
                                  c.cache_bytes};
  std::vector<StepRow> rows;
  auto const add = [&](StepRow const& step) {
    for (StepRow& row : rows)
      if (row.layers == step.layers && row.output == step.output) {
        row.count += step.count;
        row.floor += step.floor;
        row.seconds += step.seconds;
        return;
      }
    rows.push_back(step);
  };
  [&]<std::size_t... S>(std::index_sequence<S...>) {
    (add({phyllo::detail::step_text<Planned, int(S)>(),
          phyllo::detail::shape_text(Planned::node(Planned::result(int(S))).output), 1,
          phyllo::floor_of(phyllo::step_cost<Planned>(int(S), int(sizeof(typename P::storage)),
                                                      int(sizeof(typename P::accumulate))),
                           roofline, batch)
              .seconds,
          median(sample[S])}),
     ...);
  }(std::make_index_sequence<std::size_t(steps)>{});
  add({"loss, optimizer, copies", "", 1, 0, median(sample.back())});
  std::sort(rows.begin(), rows.end(), [](StepRow const& a, StepRow const& b) {
    return a.seconds - a.floor > b.seconds - b.floor;
  });
  constexpr int decimals = on_device ? 3 : 1;
  std::printf("| layers | output | steps | floor [ms] | measured [ms] | of the floor |\n");
  std::printf("|---|---|---|---|---|---|\n");
  for (StepRow const& r : rows)
    std::printf("| %s | %s | %d | %.*f | %.*f | %.0f %% |\n", r.layers.c_str(), r.output.c_str(),
                r.count, decimals, 1e3 * r.floor, decimals, 1e3 * r.seconds,
                100 * r.floor / r.seconds);
  std::printf("| all | | %d | | %.*f | |\n", steps, decimals, 1e3 * median(whole));
}

}  // namespace perf
