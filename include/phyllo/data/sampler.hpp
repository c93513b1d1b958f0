// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/random.hpp>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// Distributes samples: every epoch has a new order of the data set, divided into global batches,
/// and each global batch into one contiguous part for every rank.
///
/// options  shards: those of Reproducible, whole ones for every rank; 0: parts as even as possible
/// threads  one thread at a time
/// errors   run: no samples, a batch that is not positive, a rank that is not below the number of
///          ranks, negative shards, a step that an epoch does not have -> Error
/// numerics the order depends on (seed, epoch) alone, never on the number of ranks
/// cost     one sort of the data set's indices per epoch, on the host
class Sampler {
 public:
  Sampler(long samples, long global_batch, int rank = 0, int ranks = 1, std::uint64_t seed = 0,
          int shards = 0)
      : samples_(samples),
        batch_(global_batch),
        rank_(rank),
        ranks_(ranks),
        shards_(shards),
        seed_(seed) {
    if (samples < 1 || global_batch < 1)
      throw Error("Sampler: expected at least one sample and a positive batch, got " +
                  std::to_string(samples) + " samples in batches of " +
                  std::to_string(global_batch) + ".");
    if (ranks < 1 || rank < 0 || rank >= ranks || shards < 0)
      throw Error(
          "Sampler: expected a rank from 0 and below the number of ranks, and 0 or more shards, "
          "got rank " +
          std::to_string(rank) + " of " + std::to_string(ranks) + " and " + std::to_string(shards) +
          " shards. Count ranks from 0.");
    start_epoch(0);
  }

  /// Draws the order of an epoch.
  void start_epoch(std::uint64_t epoch) {
    std::vector<std::pair<std::uint32_t, long>> keyed(std::size_t(samples_), {0u, 0L});
    for (long i = 0; i < samples_; ++i)
      keyed[std::size_t(i)] = {random_bits({seed_, epoch, 0, std::uint64_t(i), 0}), i};
    std::sort(keyed.begin(), keyed.end());
    order_.resize(std::size_t(samples_));
    for (long i = 0; i < samples_; ++i) order_[std::size_t(i)] = keyed[std::size_t(i)].second;
  }

  /// Steps of one epoch; the last global batch may be smaller.
  long steps() const { return (samples_ + batch_ - 1) / batch_; }

  /// Indices of this rank's part of global batch number `step`; may be empty at the end.
  std::vector<long> part(long step) const {
    if (step < 0 || step >= steps())
      throw Error("Sampler: expected a step from 0 to " + std::to_string(steps() - 1) + ", got " +
                  std::to_string(step) + ". Call start_epoch for the next epoch.");
    long const first = step * batch_;
    long const count = std::min(batch_, samples_ - first);
    return {order_.begin() + first + begin(count, rank_),
            order_.begin() + first + begin(count, rank_ + 1)};
  }

  /// The largest number of samples in a part, at least 1.
  long largest_part() const {
    long const count = std::min(batch_, samples_);
    if (shards_ == 0) return (count + ranks_ - 1) / ranks_;
    long largest = 1;
    for (int r = 0; r < ranks_; ++r)
      largest = std::max({largest, begin(count, r + 1) - begin(count, r),
                          begin(last_batch(), r + 1) - begin(last_batch(), r)});
    return largest;
  }

 private:
  // Where the part of a rank begins in a global batch.
  long begin(long count, int rank) const {
    if (shards_ == 0) return count * rank / ranks_;
    return count * (long(shards_) * rank / ranks_) / shards_;
  }
  long last_batch() const { return samples_ - (steps() - 1) * batch_; }

  long samples_, batch_;
  int rank_, ranks_, shards_;
  std::uint64_t seed_;
  std::vector<long> order_;
};

}  // namespace phyllo::inline PHYLLO_ISA
