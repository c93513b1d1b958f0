// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>

#include <csignal>
#include <string>

namespace phyllo::inline PHYLLO_ISA::detail {

// Notes that a signal came, while it lives; then the handler from before has its place again. The
// handler does nothing else, as POSIX demands of one.
class StopSignal {
 public:
  explicit StopSignal(int number) : number_(number) {
    if (number_ == 0) return;
    received_ = 0;
    struct sigaction action = {};
    action.sa_handler = [](int) { received_ = 1; };
    action.sa_flags = SA_RESTART;
    sigemptyset(&action.sa_mask);
    if (sigaction(number_, &action, &before_) != 0)
      throw Error("fit: expected a signal that a program can handle, such as SIGTERM, got number " +
                  std::to_string(number) + ". Set FitOptions::stop_on_signal to another one.");
  }
  ~StopSignal() {
    if (number_ != 0) sigaction(number_, &before_, nullptr);
  }
  StopSignal(StopSignal const&) = delete;
  StopSignal& operator=(StopSignal const&) = delete;

  bool is_watched() const { return number_ != 0; }
  bool has_come() const { return number_ != 0 && received_ != 0; }

 private:
  static inline std::sig_atomic_t volatile received_ = 0;
  int number_;
  struct sigaction before_ = {};
};

}  // namespace phyllo::inline PHYLLO_ISA::detail
