// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <phyllo/core/error.hpp>
#include <phyllo/core/random.hpp>
#include <phyllo/data/batch_options.hpp>

#include <algorithm>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace phyllo::inline PHYLLO_ISA {

/// The order of samples: blocks in a random order, dealt to lanes, each lane shuffled in windows.
/// Indices only; it reads nothing.
///
/// state    one number per block, at most 2^22
/// threads  one thread at a time
/// errors   run: no samples, or options that are not positive or do not fit each other -> Error
/// numerics the order depends on (seed, epoch) and the options, never on the number of ranks.
///          Permutations of blocks and of windows are uniform (Fisher and Yates, Philox)
/// cost     start_epoch: one random number per block
/// source   shuffling: Durstenfeld, Comm. ACM 7 (1964) 420; bounded random numbers: Lemire, ACM
///          TOMACS 29 (2019) 3
class BatchOrder {
 public:
  static constexpr long most_blocks = 1L << 22;

  /// sample_bytes: of the windows, for each sample in them. chunk: see SampleSource
  BatchOrder(long samples, long block, long sample_bytes, BatchOptions const& options,
             long chunk = 1)
      : samples_(samples),
        batch_(options.batch),
        lanes_(options.lanes),
        seed_(options.seed),
        leaves_out_(options.last_batch == LastBatch::left_out) {
    if (samples < 1) refuse("at least one sample", std::to_string(samples), "Check the source.");
    if (batch_ < 1)
      refuse("a batch of at least one sample", std::to_string(batch_), "Set BatchOptions::batch.");
    if (lanes_ < 1) refuse("at least one lane", std::to_string(lanes_), "Set BatchOptions::lanes.");
    if (leaves_out_ && samples < batch_)
      refuse("at least one whole batch of " + std::to_string(batch_) + " samples",
             std::to_string(samples) + " samples", "Use LastBatch::smaller or a smaller batch.");
    long longest = 1;
    for (int lane = 0; lane < lanes_; ++lane) longest = std::max(longest, lane_size(lane));
    long const held = std::max(0L, options.host_bytes) / std::max(1L, sample_bytes) / lanes_;
    lane_window_ = options.window > 0 ? (options.window + lanes_ - 1) / lanes_ : std::max(1L, held);
    lane_window_ = std::min({lane_window_, longest, 1L << 30});
    is_spread_ = lane_window_ < longest;
    if (options.shuffle && lane_window_ > held)
      refuse("windows of at most " + std::to_string(options.host_bytes) + " bytes",
             std::to_string(lane_window_ * lanes_ * sample_bytes) + " for " +
                 std::to_string(lane_window_) + " samples in each of " + std::to_string(lanes_) +
                 " lanes",
             "Use a smaller window, fewer lanes or more BatchOptions::host_bytes.");
    block_ = options.block;
    // A lane has 16 blocks where there are enough samples, so that epochs deal them differently.
    if (block_ <= 0) {
      block_ = std::min(block, std::max(1L, samples / (16L * lanes_)));
      block_ = std::max(chunk, block_ / chunk * chunk);
    }
    long const least = (samples + most_blocks - 1) / most_blocks;
    block_ = std::max({1L, block_, (least + chunk - 1) / chunk * chunk});
    blocks_ = (samples + block_ - 1) / block_;
    if (!options.shuffle) blocks_ = 0;
  }

  long samples() const { return samples_; }
  long block() const { return block_; }
  int lanes() const { return lanes_; }
  /// Samples of the largest window of a lane.
  long lane_window() const { return lane_window_; }
  long steps() const { return full_steps() + (!leaves_out_ && tail() > 0 ? 1 : 0); }
  /// Samples of the global batch of a step.
  long batch(long step) const { return step < full_steps() ? batch_ : tail(); }
  /// Where a lane begins in the global batch of a step; that of lane `lanes()` is its end.
  long begin(long step, int lane) const { return batch(step) * lane / lanes_; }
  /// The first lane of a rank.
  int first_lane(int rank, int ranks) const { return int(long(lanes_) * rank / ranks); }
  long largest_part(int rank, int ranks) const {
    auto const part = [&](long count) {
      return count * first_lane(rank + 1, ranks) / lanes_ -
             count * first_lane(rank, ranks) / lanes_;
    };
    return full_steps() == 0 ? part(tail())
                             : std::max(part(batch_), leaves_out_ ? 0 : part(tail()));
  }

  /// Where a lane begins in the permuted sequence of all samples.
  long lane_begin(int lane) const {
    return full_steps() * (batch_ * lane / lanes_) + (leaves_out_ ? 0 : tail() * lane / lanes_);
  }
  long lane_size(int lane) const { return lane_begin(lane + 1) - lane_begin(lane); }
  /// Samples that a lane has given before a step.
  long given_before(long step, int lane) const {
    long const full = std::min(step, full_steps());
    long const each = batch_ * (lane + 1) / lanes_ - batch_ * lane / lanes_;
    return step > full_steps() ? lane_size(lane) : full * each;
  }
  /// Windows begin at different steps in different lanes, so that reading is spread.
  struct Window {
    long number = 0;
    long begin = 0, end = 0;  // in the lane
  };
  Window window(int lane, long number) const {
    long const begin = number * lane_window_ - shift(lane);
    return {number, std::max(0L, begin), std::min(lane_size(lane), begin + lane_window_)};
  }
  /// The window that contains a sample of a lane.
  Window window_of(int lane, long at) const {
    return window(lane, (at + shift(lane)) / lane_window_);
  }

  /// Draws the order of the blocks of an epoch.
  void start_epoch(std::uint64_t epoch) {
    epoch_ = epoch;
    order_.resize(std::size_t(blocks_));
    for (long i = 0; i < blocks_; ++i) order_[std::size_t(i)] = std::uint32_t(i);
    shuffle(order_.data(), blocks_, place_of_blocks, 0);
    short_at_ = 0;
    while (short_at_ < blocks_ && long(order_[std::size_t(short_at_)]) != blocks_ - 1) ++short_at_;
  }
  /// The order of the samples of a window: order (window.end - window.begin).
  void shuffle_window(int lane, Window const& window, std::uint32_t* order) const {
    long const count = window.end - window.begin;
    for (long i = 0; i < count; ++i) order[i] = std::uint32_t(i);
    shuffle(order, count, place_of_windows, std::uint64_t(lane_begin(lane) + window.begin));
  }
  /// Samples [first, first + count) of the source.
  struct Run {
    long first = 0, count = 0;
  };
  /// The samples from place `at` of the permuted sequence on that are stored together, at most
  /// `most`.
  Run run_at(long at, long most) const {
    long const last = samples_ - (blocks_ - 1) * block_;  // of the last block, which may be short
    long const begin_of_short = short_at_ * block_;
    long place = at / block_, inside = at % block_;
    if (at >= begin_of_short + last) {
      place = short_at_ + 1 + (at - begin_of_short - last) / block_;
      inside = (at - begin_of_short - last) % block_;
    } else if (at >= begin_of_short) {
      place = short_at_;
      inside = at - begin_of_short;
    }
    long const size = place == short_at_ ? last : block_;
    return {long(order_[std::size_t(place)]) * block_ + inside, std::min(most, size - inside)};
  }

 private:
  // By how much the first window of a lane is shorter than the others.
  long shift(int lane) const {
    return is_spread_ ? lane_window_ - (lane_window_ * (lane + 1) + lanes_ - 1) / lanes_ : 0;
  }
  long full_steps() const { return samples_ / batch_; }
  long tail() const { return samples_ % batch_; }

  // Positions of random numbers that no layer has.
  static constexpr std::uint32_t place_of_blocks = 65535, place_of_windows = 65534;

  // first: the number of the first random number that is drawn.
  void shuffle(std::uint32_t* order, long count, std::uint32_t place, std::uint64_t first) const {
    for (long i = count - 1; i > 0; --i) {
      auto const range = std::uint32_t(i + 1);
      std::uint64_t product = 0;
      std::uint32_t const rejected = std::uint32_t(-range) % range;
      for (std::uint32_t attempt = 0;; ++attempt) {
        std::uint32_t const bits =
            random_bits({seed_, epoch_, place, first + std::uint64_t(i), attempt});
        product = std::uint64_t(bits) * range;
        if (std::uint32_t(product) >= rejected) break;
      }
      std::swap(order[i], order[product >> 32]);
    }
  }
  [[noreturn]] static void refuse(std::string const& expected, std::string const& got,
                                  std::string const& remedy) {
    throw Error("Batches: expected " + expected + ", got " + got + ". " + remedy);
  }

  long samples_, batch_;
  int lanes_;
  std::uint64_t seed_;
  bool leaves_out_;
  long lane_window_ = 1, block_ = 1, blocks_ = 1;
  bool is_spread_ = false;
  std::uint64_t epoch_ = 0;
  std::vector<std::uint32_t> order_;  // of the blocks
  long short_at_ = 0;                 // place of the last block
};

}  // namespace phyllo::inline PHYLLO_ISA
