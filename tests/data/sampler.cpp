// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parts of global batches: every sample once an epoch, with whole shards where these are asked for.

#include <phyllo/data/sampler.hpp>
#include <phyllo/policy/determinism.hpp>

#include <doctest/doctest.h>
#include <sentence_of.hpp>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace phyllo;
using phyllo::test::sentence_of;

namespace {

// The whole order of an epoch, put together from the parts of all ranks.
std::vector<long> order_of(long samples, long batch, int ranks, int shards) {
  std::vector<long> order;
  Sampler const one(samples, batch);
  for (long step = 0; step < one.steps(); ++step)
    for (int r = 0; r < ranks; ++r) {
      Sampler const sampler(samples, batch, r, ranks, 0, shards);
      auto const part = sampler.part(step);
      CHECK(long(part.size()) <= sampler.largest_part());
      long const count = std::min(batch, samples - step * batch);
      auto const [first, last] = reproducible_range(count, r, ranks);
      if (shards == 12) CHECK(long(part.size()) == last - first);
      order.insert(order.end(), part.begin(), part.end());
    }
  return order;
}

}  // namespace

TEST_CASE("sampler: the order does not depend on ranks and shards, and has every sample once") {
  for (long const batch : {1L, 5L, 24L, 37L, 200L}) {
    CAPTURE(batch);
    std::vector<long> one = order_of(100, batch, 1, 0);
    for (int const ranks : {1, 2, 3, 5, 14})
      for (int const shards : {0, 12}) CHECK(order_of(100, batch, ranks, shards) == one);
    std::sort(one.begin(), one.end());
    for (long i = 0; i < 100; ++i) CHECK(one[std::size_t(i)] == i);
  }
}

TEST_CASE(
    "sampler: a rank or a step that does not exist is refused; parts have room for a sample") {
  for (auto const& at : {std::pair(3, 3), std::pair(-1, 3), std::pair(0, 0)})
    CHECK(sentence_of([&] { Sampler(10, 4, at.first, at.second); }) ==
          "Sampler: expected a rank from 0 and below the number of ranks, and 0 or more shards, "
          "got rank " +
              std::to_string(at.first) + " of " + std::to_string(at.second) +
              " and 0 shards. Count ranks from 0.");
  CHECK(sentence_of([] { Sampler(10, 4, 0, 1, 0, -1); }).find("-1 shards") != std::string::npos);
  Sampler const sampler(10, 4, 2, 3);
  for (long const step : {-1L, 3L})
    CHECK(sentence_of([&] { sampler.part(step); }) == "Sampler: expected a step from 0 to 2, got " +
                                                          std::to_string(step) +
                                                          ". Call start_epoch for the next epoch.");
  for (int rank = 0; rank < 3; ++rank) {
    CHECK(Sampler(1, 4, rank, 3).largest_part() == 1);
    CHECK(Sampler(1, 4, rank, 3, 0, 12).largest_part() == 1);
  }
}
