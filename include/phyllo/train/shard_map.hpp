// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/model/execution.hpp>
#include <phyllo/policy/shard_communication.hpp>
#include <phyllo/train/shard_tree.hpp>

#include <string>
#include <type_traits>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The shards and samples of each rank, and the rows in which their sums are stored.
///
/// options  Exec: an Execution with Reproducible · C: a ShardCommunication
/// state    rows of the subtrees of rank r: [first_row(r), first_row(r + 1))
/// errors   run: a batch that ranks have split differently -> Error, the same on all ranks
template <class Exec, class C> class ShardMap {
 public:
  static constexpr int shards = Exec::shards;
  using Bits = Reproducible<shards>;

  explicit ShardMap(C& communication)
      : communication_(communication), counts_(std::size_t(communication.size()), 0) {
    ShardTree<shards> all;
    for (int r = 0, rows = 0; r < ranks(); ++r) {
      ShardTree<shards> part;
      for (int s = Bits::first_shard(r, ranks()); s < Bits::first_shard(r + 1, ranks()); ++s) {
        int const merges = part.push({s, 1});
        if (r == communication_.rank()) own_merges_[s - first()] = (unsigned char)(merges);
      }
      first_row_.push_back(rows);
      for (int k = 0; k < part.size(); ++k) {
        all_merges_[rows++] = (unsigned char)(all.push(part[k]));
        all_rows_ = rows;
      }
      if (r == communication_.rank()) own_rows_ = part.most();
    }
    first_row_.push_back(all_rows_);
  }

  int ranks() const { return communication_.size(); }
  /// The shards of this rank.
  int first() const { return Bits::first_shard(communication_.rank(), ranks()); }
  int last() const { return Bits::first_shard(communication_.rank() + 1, ranks()); }
  int first_row(int rank) const { return first_row_[std::size_t(rank)]; }
  int own_row() const { return first_row(communication_.rank()); }
  int all_rows() const { return all_rows_; }
  /// Rows in all: this rank's need some more before they are its subtrees.
  int rows() const { return own_row() + own_rows_ > all_rows_ ? own_row() + own_rows_ : all_rows_; }
  /// How many sums each shard of this rank is added to, and each row of all ranks.
  unsigned char const* own_merges() const { return own_merges_; }
  unsigned char const* all_merges() const { return all_merges_; }

  /// Tells this rank's samples to the others, and learns how many there are in all. With them
  /// travels a flag: whether it is set on any of several ranks.
  bool split(std::string const& name, long samples, bool flag) {
    bool is_set = false;
    if constexpr (std::is_same_v<C, Local>) {
      counts_[0] = samples;
    } else {
      communication_.all_gather(2 * samples + (flag ? 1 : 0), counts_.data());
      for (long& count : counts_) {
        is_set = is_set || count % 2 != 0;
        count /= 2;
      }
    }
    global_batch_ = 0;
    for (long const count : counts_) global_batch_ += count;
    for (int r = 0; r < ranks(); ++r) {
      auto const [begin, end] = reproducible_range<Bits>(global_batch_, r, ranks());
      if (counts_[std::size_t(r)] != end - begin) refuse(name, r, end - begin);
    }
    return is_set && ranks() > 1;
  }
  /// Where a shard begins in the global batch.
  long begin(int shard) const { return Bits::begin(global_batch_, shard); }

 private:
  [[noreturn]] void refuse(std::string const& name, int rank, long expected) const {
    throw Error(name + ": Reproducible<" + std::to_string(shards) + "> expected rank " +
                std::to_string(rank) + " of " + std::to_string(ranks()) + " to have " +
                std::to_string(expected) + " of the " + std::to_string(global_batch_) +
                " samples, got " + std::to_string(counts_[std::size_t(rank)]) +
                ". Pass each rank the samples of reproducible_range(" +
                std::to_string(global_batch_) + ", rank, " + std::to_string(ranks()) + ").");
  }

  C& communication_;
  std::vector<long> counts_;  // samples of each rank
  std::vector<int> first_row_;
  unsigned char own_merges_[shards] = {};
  unsigned char all_merges_[shards] = {};
  int own_rows_ = 0;
  int all_rows_ = 0;
  long global_batch_ = 0;
};

}  // namespace phyllo::inline PHYLLO_ISA
