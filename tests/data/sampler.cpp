// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// Parts of global batches: every sample once an epoch, with whole shards where these are asked for.

#include <phyllo/data/sampler.hpp>
#include <phyllo/policy/determinism.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

using namespace phyllo;

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
