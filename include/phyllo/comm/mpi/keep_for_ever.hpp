// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <memory>
#include <mutex>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Keeps memory, a `std::unique_ptr`, until the process ends: what a call of MPI receives that was
/// given up. MPI may still write to it, and to free or cancel its request is not allowed
/// (MPI 4.0, section 6.12: non-blocking collectives cannot be cancelled).
///
/// threads  may be called from several
template <class Pointer> void keep_for_ever(Pointer memory) {
  // Never destroyed; reachable, so that a search for leaks knows that it is kept.
  static auto& lock = *new std::mutex;
  static auto& kept = *new std::vector<std::shared_ptr<void>>;
  std::lock_guard const guard(lock);
  kept.emplace_back(std::move(memory));
}

}  // namespace phyllo::inline PHYLLO_ISA
