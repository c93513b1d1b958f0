// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <atomic>

namespace phyllo::inline PHYLLO_ISA::gpu {

/// How many blocks of a kernel run on a multiprocessor at a time: the runtime is asked once for
/// each device of the process.
class ResidentBlocks {
 public:
  /// -1: not asked yet.
  int of(int device) const {
    return device < most_devices ? known_[device].load(std::memory_order_relaxed) - 1 : -1;
  }
  void set(int device, int blocks) {
    if (device < most_devices) known_[device].store(blocks + 1, std::memory_order_relaxed);
  }

 private:
  static constexpr int most_devices = 64;
  std::atomic<int> known_[most_devices] = {};
};

}  // namespace phyllo::inline PHYLLO_ISA::gpu
