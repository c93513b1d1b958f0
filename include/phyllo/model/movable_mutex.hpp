// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <mutex>

namespace phyllo::inline PHYLLO_ISA {

/// A mutex of a class that can be moved while no thread uses it: the new object has a mutex of its
/// own.
class MovableMutex : public std::mutex {
 public:
  MovableMutex() = default;
  MovableMutex(MovableMutex&&) noexcept {}
  MovableMutex& operator=(MovableMutex&&) noexcept { return *this; }
};

}  // namespace phyllo::inline PHYLLO_ISA
