// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <cstdint>

namespace phyllo::inline PHYLLO_ISA {

/// Which sample of a full ReplayBuffer a new one replaces.
///   oldest     the last `capacity` samples are kept
///   reservoir  each sample that was ever pushed is kept with the same probability
///
/// source   reservoir: Vitter, Random Sampling with a Reservoir, ACM Trans. Math. Softw. 11 (1985),
///          37, algorithm R, doi:10.1145/3147.3165
enum class Replacement { oldest, reservoir };

/// Options of a ReplayBuffer.
struct ReplayOptions {
  long capacity = 0;       // samples of this rank
  long batch = 256;        // samples of this rank in one batch
  std::uint64_t seed = 0;  // of the batches, and of the reservoir
  Replacement replacement = Replacement::oldest;
  int rank = 0;  // ranks draw different numbers
};

}  // namespace phyllo::inline PHYLLO_ISA
