// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <string>

/// One line per epoch with rate and time left; on a terminal a bar moves while an epoch runs.
class Progress {
 public:
  Progress(int epochs, bool bar) : epochs_(epochs), bar_(bar) {}

  /// Share of the epoch that is done, 0 to 1.
  void within(int epoch, double share) {
    auto const now = Clock::now();
    if (!bar_ || now - shown_ < std::chrono::milliseconds(100)) return;
    shown_ = now;
    constexpr int width = 30;
    double const done = (epoch + share) / epochs_;
    int const filled = std::clamp(int(done * width), 0, width);
    std::printf("\r[%s%s] %3.0f %%, %s left ", std::string(std::size_t(filled), '#').c_str(),
                std::string(std::size_t(width - filled), '.').c_str(), 100 * done,
                left(done).c_str());
    std::fflush(stdout);
  }

  void epoch(int epoch, double loss, double accuracy, double samples_per_second) {
    std::printf("%sepoch %3d/%d  loss %.4f  held-out accuracy %.2f %%  %.0f samples/s  %s left\n",
                bar_ ? "\r\033[K" : "", epoch + 1, epochs_, loss, 100 * accuracy,
                samples_per_second, left((epoch + 1.0) / epochs_).c_str());
    std::fflush(stdout);
  }

 private:
  using Clock = std::chrono::steady_clock;

  std::string left(double done) const {
    if (done <= 0) return "? s";
    double const spent = std::chrono::duration<double>(Clock::now() - start_).count();
    long const seconds = long(spent * (1 - done) / done + 0.5);
    return seconds < 120 ? std::to_string(seconds) + " s" : std::to_string(seconds / 60) + " min";
  }

  int epochs_;
  bool bar_;
  Clock::time_point start_ = Clock::now();
  Clock::time_point shown_ = {};
};
