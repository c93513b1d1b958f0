// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstddef>

namespace phyllo::inline PHYLLO_ISA::op {

/// Work memory of a launch: a slice for each work item that runs at the same time. Its contents are
/// undefined before a launch and after it.
///
/// shape    (slices, lines of 64 bytes); a slice has at least KernelTraits::thread_bytes
struct WorkMemory {
  static constexpr long line = 64;
  std::byte* first = nullptr;
  int lines = 0;
  int slices = 0;

  PHYLLO_FUNCTION std::byte* slice(int item) const { return first + line * lines * item; }
};

}  // namespace phyllo::inline PHYLLO_ISA::op
