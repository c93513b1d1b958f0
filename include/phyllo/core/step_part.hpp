// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <string>

namespace phyllo::inline PHYLLO_ISA {

/// What a loop of training does, one after the other; `whole` where forward and backward are one
/// kernel.
enum class StepPart { input, forward, backward, whole, shards, gradient_sum, update, exchange };
inline constexpr int step_part_count = 8;

/// The name in messages, of the region that Kokkos Tools see, and in a StepProfile.
inline std::string const& name_of(StepPart part) {
  static std::string const names[step_part_count] = {
      "next batch",     "forward pass",     "backward pass", "forward and backward pass",
      "sums of shards", "sum of gradients", "update",        "exchange of weights"};
  return names[int(part)];
}

}  // namespace phyllo::inline PHYLLO_ISA
