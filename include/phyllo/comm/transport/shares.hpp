// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

#include <algorithm>

namespace phyllo::inline PHYLLO_ISA {

/// The parts of contiguous shares, one share for each of `ranks`, that are in a window of the
/// numbers: what a bucket contains of each rank's share. Shares begin at whole cache lines.
class Shares {
 public:
  static constexpr long unit = 16;  // numbers

  Shares(long count, int ranks) : Shares(count, ranks, 0, count) {}
  Shares(long count, int ranks, long begin, long end)
      : count_(count), ranks_(ranks), begin_(begin), end_(end) {}

  Shares window(long begin, long end) const { return {count_, ranks_, begin, end}; }

  int ranks() const { return ranks_; }
  long begin() const { return begin_; }
  long end() const { return end_; }
  long first(int rank) const {
    long const units = (count_ + unit - 1) / unit;
    return std::clamp(units * std::min(rank, ranks_) / ranks_ * unit, begin_, end_);
  }
  /// Ranks from `ranks()` on have empty shares.
  long last(int rank) const { return rank + 1 >= ranks_ ? end_ : first(rank + 1); }
  long size(int rank) const { return last(rank) - first(rank); }

 private:
  long count_;
  int ranks_;
  long begin_, end_;
};

}  // namespace phyllo::inline PHYLLO_ISA
