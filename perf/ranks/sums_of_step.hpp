// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include "schedule.hpp"

#include <phyllo/comm/mpi/mpi_sums.hpp>

#include <vector>

namespace perf {

/// One sum over the ranks.
struct SumOfStep {
  long bytes = 0;
  double ready = 0;  // share of the backward pass's operations after which it leaves
};

/// Elements of the sums in which `count` floats travel by Mpi's own messages, one after the other.
inline std::vector<long> pieces(long count) {
  std::vector<long> all;
  for (long left = count; left > 0; left -= all.back())
    all.push_back(MpiSums::piece_of<float>(left));
  return all;
}

/// The sums of a step by Mpi's own messages, in the order in which they leave: long buckets travel
/// in pieces.
template <class Net> std::vector<SumOfStep> sums_of_step() {
  constexpr Schedule<Net> schedule;
  std::vector<SumOfStep> sums;
  for (int k = 0; k < schedule.count; ++k)
    for (long const count : pieces(schedule.bytes[k] / long(sizeof(float))))
      sums.push_back({count * long(sizeof(float)), schedule.ready[k]});
  return sums;
}

}  // namespace perf
