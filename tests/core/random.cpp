// SPDX-FileCopyrightText: 2026 The Phyllo authors
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include <doctest/doctest.h>

#include <Kokkos_Core.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <phyllo/core/random.hpp>
#include <vector>

namespace {

using phyllo::PhiloxBlock;
using phyllo::PhiloxKey;
using phyllo::RandomKey;

bool gives(PhiloxKey key, PhiloxBlock counter, PhiloxBlock expected) {
  PhiloxBlock const got = phyllo::philox(key, counter);
  return std::equal(got.word, got.word + 4, expected.word);
}

struct Draw {
  RandomKey name;
  Kokkos::View<float*> number;
  KOKKOS_FUNCTION void operator()(int i) const {
    RandomKey mine = name;
    mine.element = std::uint32_t(i);
    number(i) = phyllo::random_uniform(mine);
  }
};

}  // namespace

// kat_vectors of Random123: all zeros, all ones, the digits of pi.
TEST_CASE("philox gives the known answers of Random123 for philox4x32 with 10 rounds") {
  CHECK(gives({{0, 0}}, {{0, 0, 0, 0}}, {{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}}));
  CHECK(gives({{0xffffffff, 0xffffffff}}, {{0xffffffff, 0xffffffff, 0xffffffff, 0xffffffff}},
              {{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}}));
  CHECK(gives({{0xa4093822, 0x299f31d0}}, {{0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}},
              {{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}}));
}

TEST_CASE("uniform01 is a multiple of 2^-24 in [0, 1)") {
  CHECK(phyllo::uniform01(0) == 0.0f);
  CHECK(phyllo::uniform01(0xff) == 0.0f);
  CHECK(phyllo::uniform01(0x100) == 0x1p-24f);
  CHECK(phyllo::uniform01(0x80000000u) == 0.5f);
  CHECK(phyllo::uniform01(0xffffffffu) == 1.0f - 0x1p-24f);
}

TEST_CASE("a random key is packed as documented, four elements to a block") {
  RandomKey name;
  name.seed = 0x299f31d0a4093822u;
  // The counter of the third known answer, taken apart: 85a308d3 243f6a88 and 03707344 13198a2e.
  name.step = 0x85a308d3243f6a88u >> 30;
  name.position = 0x0370;
  name.sample = 0x734413198a2eu;
  std::uint32_t const first = (0x243f6a88u & 0x3fffffffu) << 2;
  std::uint32_t const expected[4] = {0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1};
  for (std::uint32_t i = 0; i < 4; ++i) {
    name.element = first + i;
    CHECK(phyllo::random_bits(name) == expected[i]);
    CHECK(phyllo::random_block(name).word[i] == expected[i]);
    CHECK(phyllo::random_uniform(name.seed, name.step, name.position, name.sample, name.element) ==
          phyllo::uniform01(expected[i]));
  }
}

TEST_CASE("keys that differ in one part, up to its bound, draw different blocks") {
  // A part's lowest, second and highest value; the other parts at zero and at their highest.
  std::uint64_t const highest[4] = {(1ull << 34) - 1, (1ull << 16) - 1, (1ull << 48) - 1,
                                    0xffffffffull - 3};
  std::vector<std::vector<std::uint32_t>> blocks;
  for (int choice = 0; choice < 81; ++choice) {
    std::uint64_t part[4];
    for (int p = 0, rest = choice; p < 4; ++p, rest /= 3)
      part[p] = rest % 3 == 0 ? 0 : rest % 3 == 1 ? (p == 3 ? 4 : 1) : highest[p];
    PhiloxBlock const block =
        phyllo::random_block({1, part[0], std::uint32_t(part[1]), part[2], std::uint32_t(part[3])});
    blocks.emplace_back(block.word, block.word + 4);
  }
  std::sort(blocks.begin(), blocks.end());
  CHECK(std::adjacent_find(blocks.begin(), blocks.end()) == blocks.end());
}

TEST_CASE("random numbers have the moments of the uniform distribution and no correlation") {
  int const count = 1 << 20;
  double sum = 0, squares = 0, neighbours = 0, samples = 0;
  double previous = 0.5;
  for (int i = 0; i < count; ++i) {
    double const u = double(phyllo::random_uniform(42, 7, 3, 5, std::uint32_t(i)));
    double const v = double(phyllo::random_uniform(42, 7, 3, 6, std::uint32_t(i)));
    sum += u;
    squares += (u - 0.5) * (u - 0.5);
    neighbours += (u - 0.5) * (previous - 0.5);
    samples += (u - 0.5) * (v - 0.5);
    previous = u;
  }
  // Five standard deviations of each estimate.
  double const n = count;
  CHECK(std::fabs(sum / n - 0.5) < 5 * std::sqrt(1.0 / 12 / n));
  CHECK(std::fabs(squares / n - 1.0 / 12) < 5 * std::sqrt(1.0 / 180 / n));
  CHECK(std::fabs(neighbours / n) < 5 * std::sqrt(1.0 / 144 / n));
  CHECK(std::fabs(samples / n) < 5 * std::sqrt(1.0 / 144 / n));
}

TEST_CASE("a kernel draws the numbers that the host draws") {
  int const count = 1000;
  RandomKey const name{11, 12, 13, 14, 0};
  Draw const draw{name, Kokkos::View<float*>("numbers", count)};
  Kokkos::DefaultExecutionSpace const exec;
  Kokkos::parallel_for("draw", Kokkos::RangePolicy(exec, 0, count), draw);
  exec.fence("draw");
  auto const got = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, draw.number);
  int wrong = 0;
  for (int i = 0; i < count; ++i)
    wrong += got(i) == phyllo::random_uniform(11, 12, 13, 14, std::uint32_t(i)) ? 0 : 1;
  CHECK(wrong == 0);
}
