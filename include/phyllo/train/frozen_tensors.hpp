// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/network_tensors.hpp>

#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Which parameters an optimizer leaves as they are, as ranges of the arena for its kernels. A
/// kernel over all parameters is launched over what is between frozen tensors instead: without one
/// that is a single launch, and no kernel reads a mask.
class FrozenTensors {
 public:
  /// From the first element to behind the last.
  using Range = std::pair<long, long>;
  struct Updated {
    Range range;
    int place = -1;  // of its StepState, as OwnSteps::place
  };

  /// share: the elements that this rank updates.
  explicit FrozenTensors(Range share) : share_(share), updated_{{share}} {}

  /// steps: an OwnSteps, which knows the frozen tensors.
  template <int N, class Steps> void arrange(NetworkTensors<N> const& all, Steps const& steps) {
    updated_.clear();
    frozen_.clear();
    for (int t = 0; t < all.size; ++t) {
      NetworkTensor const& one = all.tensor[t];
      Range const range = cut({one.offset, one.offset + one.extent});
      if (range.first >= range.second) continue;
      if (steps.is_frozen(t)) {
        if (!joins(frozen_, range)) frozen_.push_back(range);
      } else if (updated_.empty() || updated_.back().place != steps.place(t) ||
                 !joins_range(updated_.back().range, range)) {
        updated_.push_back({range, steps.place(t)});
      }
    }
    if (updated_.empty()) updated_.push_back({{share_.first, share_.first}});
  }

  /// At least one, which may be empty.
  std::vector<Updated> const& updated() const { return updated_; }
  std::vector<Range> const& frozen() const { return frozen_; }

 private:
  Range cut(Range range) const {
    if (range.first < share_.first) range.first = share_.first;
    if (range.second > share_.second) range.second = share_.second;
    return range;
  }
  static bool joins_range(Range& before, Range const& next) {
    if (before.second != next.first) return false;
    before.second = next.second;
    return true;
  }
  static bool joins(std::vector<Range>& ranges, Range const& next) {
    return !ranges.empty() && joins_range(ranges.back(), next);
  }

  Range share_;
  std::vector<Updated> updated_;
  std::vector<Range> frozen_;
};

}  // namespace phyllo::inline PHYLLO_ISA
