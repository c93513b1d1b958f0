// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "schedule.hpp"

#include <phyllo/comm/mpi_sums.hpp>

#include <vector>

namespace perf {

/// Bytes of each sum of a step by Mpi's own messages, in the order in which they leave: long
/// buckets travel in pieces.
template <class Net> std::vector<long> sums_of_step() {
  constexpr Schedule<Net> schedule;
  std::vector<long> sums;
  for (int k = 0; k < schedule.count; ++k)
    for (long left = schedule.bytes[k] / long(sizeof(float)); left > 0;) {
      long const piece = MpiSums::piece_of<float>(left);
      sums.push_back(piece * long(sizeof(float)));
      left -= piece;
    }
  return sums;
}

}  // namespace perf
