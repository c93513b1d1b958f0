// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/network/network_tensors.hpp>

#include <cstddef>
#include <utility>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Which parameter tensors an optimizer leaves as they are, as ranges of the arena for its kernels.
/// A kernel over all parameters is launched over what is between frozen tensors instead: without
/// one that is a single launch, and no kernel reads a mask.
class FrozenTensors {
 public:
  /// From the first element to behind the last.
  using Range = std::pair<long, long>;

  /// share: the elements that this rank updates.
  FrozenTensors(int tensors, Range share)
      : share_(share), mask_(std::size_t(tensors), false), updated_{share} {}

  template <int N> void set(NetworkTensors<N> const& all, int tensor, bool frozen) {
    mask_[std::size_t(tensor)] = frozen;
    updated_.clear();
    frozen_.clear();
    for (int t = 0; t < all.size; ++t) {
      NetworkTensor const& one = all.tensor[t];
      append(mask_[std::size_t(t)] ? frozen_ : updated_, one.offset, one.offset + one.extent);
    }
    if (updated_.empty()) updated_.push_back({share_.first, share_.first});
  }
  bool contains(int tensor) const { return mask_[std::size_t(tensor)]; }

  /// At least one, which may be empty.
  std::vector<Range> const& updated() const { return updated_; }
  std::vector<Range> const& frozen() const { return frozen_; }

 private:
  void append(std::vector<Range>& ranges, long first, long last) const {
    if (first < share_.first) first = share_.first;
    if (last > share_.second) last = share_.second;
    if (first >= last) return;
    if (!ranges.empty() && ranges.back().second == first)
      ranges.back().second = last;
    else
      ranges.push_back({first, last});
  }

  Range share_;
  std::vector<bool> mask_;
  std::vector<Range> updated_, frozen_;
};

}  // namespace phyllo::inline PHYLLO_ISA
