// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

// The tree of shards: whatever ranks there are, the additions are those of one rank.

#include <phyllo/policy/determinism.hpp>
#include <phyllo/train/add_shards.hpp>
#include <phyllo/train/shard_tree.hpp>

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

using namespace phyllo;

namespace {

// Sums as formulas: what is added to what.
template <int Shards> class Formulas {
 public:
  void push(typename ShardTree<Shards>::Subtree const& subtree, std::string formula) {
    for (int m = tree_.push(subtree); m > 0; --m) {
      formula = "(" + sums_.back() + "+" + formula + ")";
      sums_.pop_back();
    }
    sums_.push_back(formula);
  }
  ShardTree<Shards> const& tree() const { return tree_; }
  std::vector<std::string> const& sums() const { return sums_; }

 private:
  ShardTree<Shards> tree_;
  std::vector<std::string> sums_;
};

template <int Shards> std::string formula_of(int ranks) {
  using Bits = Reproducible<Shards>;
  int log = 0;
  while (1 << log < Shards) ++log;
  Formulas<Shards> all;
  for (int r = 0; r < ranks; ++r) {
    Formulas<Shards> part;
    for (int s = Bits::first_shard(r, ranks); s < Bits::first_shard(r + 1, ranks); ++s)
      part.push({s, 1}, std::to_string(s));
    CHECK(part.tree().most() <= std::max(2 * log, 1));
    for (int k = 0; k < part.tree().size(); ++k)
      all.push(part.tree()[k], part.sums()[std::size_t(k)]);
  }
  REQUIRE(all.sums().size() == 1);
  return all.sums()[0];
}

template <int Shards> void check_ranks() {
  CAPTURE(Shards);
  std::string const one = formula_of<Shards>(1);
  for (int ranks = 2; ranks <= Shards + 2; ++ranks) CHECK(formula_of<Shards>(ranks) == one);
}

}  // namespace

TEST_CASE("shard tree: neighbours are added first, whatever ranks have them") {
  CHECK(formula_of<1>(1) == "0");
  CHECK(formula_of<5>(1) == "(((0+1)+(2+3))+4)");
  CHECK(formula_of<12>(1) == "((((0+1)+(2+3))+((4+5)+(6+7)))+((8+9)+(10+11)))");
  check_ranks<1>();
  check_ranks<2>();
  check_ranks<5>();
  check_ranks<7>();
  check_ranks<12>();
  check_ranks<13>();
  check_ranks<16>();
  check_ranks<61>();
  check_ranks<256>();
}

TEST_CASE("add shards: in rows of their own, in their place, one by one and many at once") {
  constexpr int shards = 13, size = 37, run = 8;
  using Add = AddShards<double, shards, run>;
  auto const number = [](int s, int i) { return 1.0 / (3 + 7 * s + i); };
  ShardTree<shards> tree;
  unsigned char merges[shards];
  for (int s = 0; s < shards; ++s) merges[s] = (unsigned char)(tree.push({s, 1}));
  std::vector<double> expected(size), source(shards * size);
  for (int i = 0; i < size; ++i) {
    std::vector<double> sums;
    for (int s = 0; s < shards; ++s) {
      double sum = source[std::size_t(s * size + i)] = number(s, i);
      for (int m = merges[s]; m > 0; --m) {
        sum = sums.back() + sum;
        sums.pop_back();
      }
      sums.push_back(sum);
    }
    expected[std::size_t(i)] = sums[0];
  }
  auto const launch = [](Add const& add) {
    for (int item = 0; item * run < size; ++item) add(item);
  };
  auto const with = [&](Add add, int first, int count) {
    add.count = count;
    std::copy_n(merges + first, count, add.merges);
    return add;
  };
  std::vector<double> rows(std::size_t(tree.most()) * size, -1.0), result(size, -1.0);
  launch(with({source.data(), size, rows.data(), size, result.data(), size}, 0, shards));
  CHECK(result == expected);

  std::vector<double> shard(size);
  std::fill(rows.begin(), rows.end(), -1.0);
  for (int s = 0, before = 0; s < shards; ++s) {
    for (int i = 0; i < size; ++i) shard[std::size_t(i)] = number(s, i);
    launch(with({shard.data(), 0, rows.data(), size, s + 1 == shards ? shard.data() : nullptr, size,
                 1, before},
                s, 1));
    before += 1 - merges[s];
  }
  CHECK(shard == expected);

  launch(with({source.data(), size, source.data(), size, nullptr, size}, 0, shards));
  source.resize(size);
  CHECK(source == expected);
}

TEST_CASE("reproducible range: whole shards, all samples, in order") {
  for (long const batch : {0L, 1L, 5L, 12L, 100L, 1000003L})
    for (int ranks = 1; ranks < 15; ++ranks) {
      long end = 0;
      for (int r = 0; r < ranks; ++r) {
        auto const [first, last] = reproducible_range(batch, r, ranks);
        CHECK(first == end);
        end = last;
      }
      CHECK(end == batch);
    }
  static_assert(reproducible_range(24, 1, 3) == std::pair<long, long>(8, 16));
  static_assert(reproducible_range<Reproducible<2>>(24, 1, 3) == std::pair<long, long>(0, 12));
}
