// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <functional>
#include <iostream>
#include <string>
#include <vector>

namespace perf {

inline double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

/// What `perf/run` times, of Phyllo and of its peers alike.
class Samples {
 public:
  /// Calls repeated until a sample is long enough for the clock.
  void add(std::function<void()> call) {
    call();  // the first call warms up
    double const start = now();
    call();
    repeat_.push_back(std::max(1, int(5e-3 / std::max(now() - start, 1e-8))));
    call_.push_back(std::move(call));
  }

  /// Says "ready" and answers every line `sample CASE` with the seconds of one call.
  int answer() const {
    std::printf("ready\n");
    std::fflush(stdout);
    std::string command;
    while (std::cin >> command && command == "sample") {
      std::size_t k = 0;
      std::cin >> k;
      call_.at(k)();  // threads wake and caches fill
      double const start = now();
      for (int r = 0; r < repeat_[k]; ++r) call_[k]();
      std::printf("%.9g\n", (now() - start) / repeat_[k]);
      std::fflush(stdout);
    }
    return 0;
  }

 private:
  std::vector<std::function<void()>> call_;
  std::vector<int> repeat_;
};

}  // namespace perf
