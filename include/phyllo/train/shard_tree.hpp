// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/macros.hpp>

namespace phyllo::inline PHYLLO_ISA {

/// The order in which sums of shards are added: neighbours first, then neighbours of those, as far
/// as there are any. Sums come in rising order of their shards, and any two that are the halves of
/// a larger one become that one; so whatever part of all shards has come, what is left is the
/// fewest complete subtrees of it. A part is summed by one rank, and the subtrees of all ranks, in
/// order, by every rank: together these are the additions of one rank that has all shards.
///
/// shape    subtree of level l and number i: shards [i 2^l, min((i + 1) 2^l, Shards))
template <int Shards> class ShardTree {
 public:
  /// The sum of shards [first, first + width), or of those of them that there are; width: a power
  /// of two.
  struct Subtree {
    int first = 0;
    int width = 1;
    constexpr int end() const { return first + width < Shards ? first + width : Shards; }
  };

  /// One sum more. Returns how many of those before, from the last one backwards, it is added to.
  constexpr int push(Subtree sum) {
    int merges = 0;
    for (; size_ > 0 && halves(subtree_[size_ - 1], sum); ++merges) {
      --size_;
      sum = {subtree_[size_].first, 2 * subtree_[size_].width};
    }
    subtree_[size_++] = sum;
    most_ = size_ > most_ ? size_ : most_;
    return merges;
  }

  constexpr int size() const { return size_; }  // sums that are left
  constexpr int most() const { return most_; }  // that were left at any time
  constexpr Subtree const& operator[](int i) const { return subtree_[i]; }

 private:
  static constexpr bool halves(Subtree const& left, Subtree const& right) {
    return left.first % (2 * left.width) == 0 && right.first == left.first + left.width &&
           right.end() == Subtree{left.first, 2 * left.width}.end();
  }

  Subtree subtree_[Shards] = {};
  int size_ = 0;
  int most_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
